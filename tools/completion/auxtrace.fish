# SPDX-License-Identifier: GPL-2.0-only
# Completion of auxtrace(1) for fish: options from the command's --help, events from its list --complete.

function __auxtrace_options
    set -l said (commandline -opc)
    auxtrace $said[2] --help 2>/dev/null |
        sed -nE 's/^ +(-[A-Za-z]), (--[a-z0-9-]+)[^ ]*( [A-Z]+)? +(.*)/\1\t\4\n\2\t\4/p; s/^ +(--[a-z0-9-]+)[^ ]*( [A-Z]+)? +(.*)/\1\t\3/p'
end

function __auxtrace_event
    set -l word (commandline -ct)
    switch $word
        case '*=*,*'
            set -l rest (string replace -r ',[^,]*$' ',' -- $word)
            printf "$rest%s\n" pid= count= after= hold-off= one-shot all-cpus delay=
        case '*=*'
            set -l rest (string replace -r '=.*' '=' -- $word)
            printf "$rest%s\n" pause resume freeze sample=
        case 'latency:*..*'
            set -l rest (string replace -r '\.\.[^.]*$' '..' -- $word)
            auxtrace list --complete (string replace -r '.*\.\.' '' -- $word) 2>/dev/null | string replace -r '^' -- $rest
        case 'latency:*'
            auxtrace list --complete (string replace 'latency:' '' -- $word) 2>/dev/null | string replace -r '^' latency:
        case '*'
            set -l names (auxtrace list --complete "$word" 2>/dev/null)
            string join \n -- $names
            # fish puts a blank behind the only answer, but an action may follow. With two it does not.
            if test (count $names) -eq 1; and not string match -q '*:' -- $names; and __auxtrace_said --on
                echo $names=
            end
    end
end

function __auxtrace_said
    set -l said (commandline -opc)
    contains -- $argv[1] $said[-1]
end

complete -c auxtrace -f
complete -c auxtrace -n '__fish_use_subcommand; or __auxtrace_said help' -a "(auxtrace --help 2>/dev/null | sed -nE 's/^  ([a-z-]+) +(.*)/\1\t\2/p')"
complete -c auxtrace -n __fish_use_subcommand -a help -d 'the man page of a command'
complete -c auxtrace -n 'not __fish_use_subcommand; and string match -q -- "-*" (commandline -ct)' -a '(__auxtrace_options)'
complete -c auxtrace -n '__auxtrace_said --on' -a '(__auxtrace_event)'
complete -c auxtrace -n '__fish_seen_subcommand_from list; and not string match -q -- "-*" (commandline -ct)' -a '(__auxtrace_event)'
complete -c auxtrace -n '__auxtrace_said --source' -a 'pt bts'
complete -c auxtrace -n '__auxtrace_said --full' -a 'wait auto stop'
complete -c auxtrace -n '__auxtrace_said --weight' -a 'ns instructions'
complete -c auxtrace -n '__auxtrace_said --format; or __auxtrace_said -f' -a 'perf perfetto speedscope folded callgrind'
complete -c auxtrace -n '__auxtrace_said --pid; or __auxtrace_said -p' -a '(__fish_complete_pids)'
complete -c auxtrace -n '__fish_seen_subcommand_from dump script report export; or __auxtrace_said -o; or __auxtrace_said --output' -F
complete -c auxtrace -n '__fish_seen_subcommand_from record; and not __auxtrace_said --on' -a '(__fish_complete_subcommand --fcs-skip=2)'
