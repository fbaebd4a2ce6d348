/* SPDX-License-Identifier: GPL-2.0-only */
/* The subcommands, one in each file of this folder. Each returns the exit status. */
#ifndef CMD_H
#define CMD_H

int cmd_around(int argc, char **argv);
int cmd_dump(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_last(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_record(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_script(int argc, char **argv);
int cmd_selftest(int argc, char **argv);
int cmd_why_slow(int argc, char **argv);

#endif
