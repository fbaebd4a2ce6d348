// SPDX-License-Identifier: LGPL-2.1-or-later
/* Samples that are too large for a record: in a slot of the AUX area, until released. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "recording.h"

AUXTRACE_API int auxtrace_reader_peek_sample(struct auxtrace_reader *r,
					     const union auxtrace_record *record,
					     struct auxtrace_spans *spans)
{
	const struct auxtrace_record_sample *s = &record->sample;
	uint32_t slots = session_slots(r->session);

	if (record->header.type != AUXTRACE_RECORD_SAMPLE || auxtrace_sample_data(record))
		return fail(EINVAL, "this record has no sample in a slot");
	if (s->sample_slot >= slots || s->length > r->session->setup.aux_size / slots ||
	    s->length > s->aux_end)
		return fail(EINVAL, "no sample of CPU %u is like that: slot %u, %" PRIu64 " bytes before %" PRIu64,
			    r->cpu, s->sample_slot, (uint64_t)s->length, (uint64_t)s->aux_end);
	make_spans(r, s->sample_slot, s->aux_end - s->length, s->aux_end, spans);
	return 0;
}

AUXTRACE_API int auxtrace_release_sample(struct auxtrace_session *s, unsigned int cpu, uint32_t slot)
{
	struct auxtrace_release arg = {
		.size = sizeof(arg),
		.flags = AUXTRACE_RELEASE_SAMPLE,
		.slot = slot,
		.cpu = cpu,
	};

	if (!device_ioctl(s->fd, AUXTRACE_IOC_RELEASE, &arg))
		return 0;
	if (errno == EBADFD)
		return fail(EBADFD, "RELEASE before setup");
	if (errno == EINVAL)
		return fail(EINVAL, "RELEASE of slot %u, which holds no sample of CPU %u", slot, cpu);
	return fail(errno, "RELEASE failed: %s", strerror(errno));
}

int stream_save_sample(struct files *files, struct stream *stream, const union auxtrace_record *record)
{
	struct auxtrace_spans spans;
	char name[32];

	if (record->header.type != AUXTRACE_RECORD_SAMPLE || auxtrace_sample_data(record))
		return 0;
	if (auxtrace_reader_peek_sample(stream->reader, record, &spans))
		return -1;
	if (!stream->samples) {
		snprintf(name, sizeof(name), "cpu%u.samples", stream->reader->cpu);
		stream->samples = recording_file(files->dirfd, name);
		if (!stream->samples)
			return -1;
	}
	for (int i = 0; i < spans.count; i++)
		if (fwrite(spans.iov[i].iov_base, 1, spans.iov[i].iov_len, stream->samples) !=
		    spans.iov[i].iov_len)
			return fail(errno, "cannot write the samples of CPU %u: %s",
				    stream->reader->cpu, strerror(errno));
	stream->sample_bytes += spans.len;
	/* stdio may have it still, but it is a copy. */
	return auxtrace_release_sample(stream->reader->session, stream->reader->cpu,
				       record->sample.sample_slot);
}
