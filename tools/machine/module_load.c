// SPDX-License-Identifier: GPL-2.0-only
/*
 * libkmod knows the module's file, who signed it, and what the files of modprobe.d say of it. What the kernel demands stands in
 * its parameters and in its list of keys. The kernel's own checks are in kernel/module/signing.c, module_sig_check(), and
 * kernel/module/main.c, blacklisted().
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <libkmod.h>

#include "lib/findings.h"
#include "lib/first_line.h"
#include "lib/tool.h"
#include "module_load.h"
#include "userlib/lockdown.h"

#define MODULE		"auxtrace"
#define SIG_ENFORCE	"/sys/module/module/parameters/sig_enforce"
/* DKMS reads it behind the dkms.conf of the module's source. */
#define DKMS_OVERRIDE	"/etc/dkms/" MODULE ".conf"

/* What is known of the installed file. */
struct module_file {
	const char *path;
	const char *install;	/* what modprobe runs in place of loading it, or NULL */
	bool is_signed;
	char *signer;		/* NULL: the signature does not name one */
	bool blacklisted;	/* modprobe.d: only who asks for it by its name loads it */
};

enum trust { TRUSTED, NOT_TRUSTED, TRUST_UNKNOWN };

/*
 * Has the kernel a key of this name? A certificate's entry in /proc/keys is "... asymmetri NAME: KEY ID: TYPE ...", where NAME may be
 * "ORGANIZATION: COMMON NAME" (crypto/asymmetric_keys/x509_cert_parser.c). A signature names who issued the signer's certificate,
 * which as a rule is the signer. Who may see no key has a list without any.
 */
static enum trust find_trust(const char *signer)
{
	static const char type[] = " asymmetri ";
	enum trust trust = TRUST_UNKNOWN;
	char *line = NULL, *name, *at;
	size_t size = 0;
	FILE *f;

	if (!signer)
		return TRUST_UNKNOWN;
	f = fopen("/proc/keys", "re");
	while (f && trust != TRUSTED && getline(&line, &size, f) > 0) {
		name = strstr(line, type);
		if (!name)
			continue;
		trust = NOT_TRUSTED;
		name += strlen(type);
		for (at = name; (at = strstr(at, signer)); at++)
			if ((at == name || !strncmp(at - 2, ": ", 2)) && !strncmp(at + strlen(signer), ": ", 2))
				trust = TRUSTED;
	}
	free(line);
	if (f)
		fclose(f);
	return trust;
}

/* Does the kernel's command line refuse the module by its name? */
static bool is_refused_by_name(void)
{
	static const char parameter[] = "module_blacklist=";
	char line[4096], *words, *word, *names, *name;
	bool refused = false;

	first_line("/proc/cmdline", line, sizeof(line));
	for (word = strtok_r(line, " ", &words); word; word = strtok_r(NULL, " ", &words)) {
		if (strncmp(word, parameter, strlen(parameter)))
			continue;
		/* The kernel takes the last one. */
		refused = false;
		for (name = strtok_r(word + strlen(parameter), ",", &names); name; name = strtok_r(NULL, ",", &names))
			refused |= !strcmp(name, MODULE);
	}
	return refused;
}

/* Why the kernel takes only modules that are signed by a key it trusts, or NULL. */
static const char *signature_demand(void)
{
	static char locked_down[64];
	const char *mode = lockdown_mode();
	FILE *f;
	int c;

	if (mode) {
		snprintf(locked_down, sizeof(locked_down), "it is locked down, %s mode", mode);
		return locked_down;
	}
	f = fopen(SIG_ENFORCE, "re");
	c = f ? getc(f) : EOF;
	if (f)
		fclose(f);
	return c == 'Y' ? "module.sig_enforce is set" : NULL;
}

/* Returns 0 or a negative errno. */
static int read_signature(struct module_file *file, const struct kmod_module *mod)
{
	struct kmod_list *infos = NULL, *info;
	int err = kmod_module_get_info(mod, &infos);

	if (err < 0)
		return err;
	kmod_list_foreach(info, infos) {
		const char *key = kmod_module_info_get_key(info);

		if (!strcmp(key, "sig_id"))
			file->is_signed = true;
		else if (!strcmp(key, "signer") && *kmod_module_info_get_value(info) && !file->signer)
			file->signer = xstrdup(kmod_module_info_get_value(info));
	}
	kmod_module_info_free_list(infos);
	return 0;
}

static bool is_blacklisted(const struct kmod_ctx *kmod, const struct kmod_list *modules)
{
	struct kmod_list *allowed = NULL;
	bool blacklisted;

	if (kmod_module_apply_filter(kmod, KMOD_FILTER_BLACKLIST, modules, &allowed))
		return false;
	blacklisted = !allowed;
	kmod_module_unref_list(allowed);
	return blacklisted;
}

/* What is to be said of the signature where the kernel demands one. False: it has none. */
static bool has_signature(const struct module_file *file, const char *demand, char *note, size_t size)
{
	char signer[100] = "a key without a name";

	if (!file->is_signed)
		return false;
	if (file->signer)
		snprintf(signer, sizeof(signer), "\"%s\"", file->signer);
	switch (find_trust(file->signer)) {
	case TRUSTED:
		snprintf(note, size, "; the kernel has a key of the name of its signer, %s", signer);
		break;
	case TRUST_UNKNOWN:
		snprintf(note, size, ", which works if the kernel trusts its signer, %s (%s)", signer, demand);
		break;
	case NOT_TRUSTED:
		snprintf(note, size, ", which the kernel refuses if it does not trust its signer, %s: it has no key of that name (%s; see SECURE BOOT in auxtrace(4))",
			 signer, demand);
		break;
	}
	return true;
}

/* Does modprobe run nothing in place of loading it? */
static bool is_disabled(const char *install)
{
	static const char *const nothing[] = { "/bin/true", "/bin/false", "/usr/bin/true", "/usr/bin/false" };

	for (unsigned int i = 0; install && i < ARRAY_SIZE(nothing); i++)
		if (!strcmp(install, nothing[i]))
			return true;
	return false;
}

static void find_file(const struct module_file *file)
{
	const char *demand = signature_demand();
	char note[300] = "";

	if (is_refused_by_name())
		finding_add(NULL, "module", NO, "the kernel refuses %s by its name: module_blacklist= in its parameters (/proc/cmdline)", file->path);
	else if (is_disabled(file->install))
		finding_add(NULL, "module", NO, "modprobe does not load %s: a file in modprobe.d has \"install " MODULE " %s\"",
			    file->path, file->install);
	else if (demand && !has_signature(file, demand, note, sizeof(note)))
		finding_add(NULL, "module", NO, "the kernel refuses %s, which has no signature: it takes only modules signed by a key that it trusts (%s; see SECURE BOOT in auxtrace(4))",
			    file->path, demand);
	else
		finding_add(NULL, "module", NOTE, "%s is installed, and not loaded: modprobe " MODULE "%s%s", file->path, note,
			    file->blacklisted ? ". modprobe.d blacklists it, so nothing loads it at boot" : "");
}

/* Is the kernel newer than those for which dkms.conf has DKMS build the module? A release that cannot be read is not. */
static bool is_newer_than_bound(const char *release)
{
	unsigned int version, series, newest_version, newest_series;

	if (sscanf(release, "%u.%u", &version, &series) != 2 ||
	    sscanf(NEWEST_KERNEL, "%u.%u", &newest_version, &newest_series) != 2)
		return false;
	return version > newest_version || (version == newest_version && series > newest_series);
}

/* Has the administrator another bound, or none? */
static bool is_bound_overridden(void)
{
	static const char variable[] = "BUILD_EXCLUSIVE_KERNEL=";
	bool overridden = false;
	char line[256];
	FILE *f = fopen(DKMS_OVERRIDE, "re");

	while (f && fgets(line, sizeof(line), f))
		overridden |= !strncmp(line + strspn(line, " \t"), variable, strlen(variable));
	if (f)
		fclose(f);
	return overridden;
}

/* modprobe knows no file. */
static void find_none(const char *release)
{
	char list[128];

	snprintf(list, sizeof(list), "/lib/modules/%s/modules.dep", release);
	if (access(list, R_OK) && errno != ENOENT)
		finding_add(NULL, "module", NOTE, "cannot tell whether it is installed: %s: %s", list, strerror(errno));
	else if (is_newer_than_bound(release) && !is_bound_overridden())
		finding_add(NULL, "module", NO, "there is none for this kernel in %s, which modprobe reads: DKMS skips kernels newer than " NEWEST_KERNEL ", the newest that the module was tested on. To have it built, write BUILD_EXCLUSIVE_KERNEL=\"\" to " DKMS_OVERRIDE ", then dkms autoinstall (see NEWER KERNELS in auxtrace(4))",
			    list);
	else
		finding_add(NULL, "module", NO, "there is none for this kernel in %s, which modprobe reads: auxtrace-dkms builds it if the kernel's headers are installed (dkms status)",
			    list);
}

void find_module(void)
{
	struct kmod_ctx *kmod = kmod_new(NULL, NULL);
	struct kmod_list *modules = NULL;
	struct module_file file = { 0 };
	struct kmod_module *mod = NULL;
	struct utsname uts = { 0 };
	int err;

	uname(&uts);
	if (kmod && !kmod_module_new_from_lookup(kmod, MODULE, &modules) && modules) {
		mod = kmod_module_get_module(modules);
		file.path = kmod_module_get_path(mod);
	}
	/* The path is that of modules.dep, which may be older than the directory. */
	if (!file.path || (access(file.path, F_OK) && errno == ENOENT)) {
		find_none(uts.release);
	} else {
		file.install = kmod_module_get_install_commands(mod);
		file.blacklisted = is_blacklisted(kmod, modules);
		err = read_signature(&file, mod);
		if (err)
			finding_add(NULL, "module", NOTE, "%s cannot be read: %s", file.path, strerror(-err));
		else
			find_file(&file);
		free(file.signer);
	}
	kmod_module_unref(mod);
	kmod_module_unref_list(modules);
	kmod_unref(kmod);
}
