# SPDX-License-Identifier: GPL-2.0-only
# Puts the parts that a page names by ".so PART" in their places, and the version for @VERSION@. A part is here,
# or was made in @made. Names of pages are not broken at the end of a line.
function put(file,    line, status)
{
	if ((getline line < file) < 0)
		file = made "/" file
	close(file)
	while ((status = (getline line < file)) > 0)
		if (line !~ /^\.\\" SPDX-/)
			print line
	close(file)
	if (status < 0) {
		print FILENAME ":" FNR ": cannot read " file > "/dev/stderr"
		exit 1
	}
}
$1 == ".so" { put($2); next }
{
	gsub(/@VERSION@/, version)
	if ($1 == ".BR" && $2 ~ /^(lib)?auxtrace/)
		sub(/^\.BR /, ".BR \\%")
	print
}
