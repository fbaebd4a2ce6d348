# SPDX-License-Identifier: GPL-2.0-only
# Completion of auxtrace(1) for fish: options from the command's --help, events from its list --complete, checks from
# what selftest says of one that it does not have.

function __auxtrace_options -a subcommand
    auxtrace $subcommand --help 2>/dev/null |
        sed -nE 's/^ +(-[A-Za-z]), (--[a-z0-9-]+)[^ ]*( [A-Z]+)? +(.*)/\1\t\4\n\2\t\4/p; s/^ +(--[a-z0-9-]+)[^ ]*( [A-Z]+)? +(.*)/\1\t\3/p'
end

# Those that take a value
function __auxtrace_valued -a subcommand
    auxtrace $subcommand --help 2>/dev/null |
        sed -nE 's/^ +(-[A-Za-z]), (--[a-z0-9-]+) [A-Z].*/\1\n\2/p; s/^ +(--[a-z0-9-]+) [A-Z].*/\1/p'
end

# fish completes names of files behind a command that it does not know.
function __auxtrace_files -a word
    complete -C "auxtrace-unknown $word"
end

# fish puts a blank behind the only answer. Behind NAME more may follow, which begins with SUFFIX: two answers get no blank.
function __auxtrace_open -a suffix name
    string join \n -- $argv[2..-1]
    if test (count $argv) -eq 2; and not string match -qr '[:/]$' -- $name
        echo $name$suffix
    end
end

function __auxtrace_event -a word
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
        case 'uprobe:/*' 'uretprobe:/*'
            set -l parts (string split -m 1 : -- $word)
            __auxtrace_open : (__auxtrace_files $parts[2]) | string replace -r '^' -- $parts[1]:
        case '*'
            auxtrace list --complete "$word" 2>/dev/null
    end
end

# The CPUs that are online; BEFORE is what a list has before its last number.
function __auxtrace_cpus -a before
    sed -nE "s/^cpu([0-9]+) .*/$before\1/p" /proc/stat
end

function __auxtrace_value -a subcommand option word
    switch $subcommand:$option
        case '*:--on'
            if string match -qr '=|^u(ret)?probe:/' -- "$word"
                __auxtrace_event "$word"
            else
                __auxtrace_open = (__auxtrace_event "$word")
            end
        case '*:--source'
            string join \n pt bts
        case '*:--full'
            string join \n wait auto stop
        case '*:--weight'
            string join \n ns instructions
        case '*:--format' '*:-f'
            string join \n perf perfetto speedscope folded callgrind
        case '*:--by'
            string join \n function thread process
        case '*:--sort'
            string join \n self total waited calls p50 p99 max instructions
        case '*:--color'
            string join \n auto always never
        case record:--cpu record:-C
            __auxtrace_cpus (string replace -r '[^,-]*$' '' -- "$word")
        case '*:--cpu' '*:-C'
            __auxtrace_cpus
        case record:-p record:--pid record:-t record:--tid '*:--cr3'
            __fish_complete_pids
        case '*:--control' '*:--html' export:-o export:--output selftest:-o selftest:--output
            __auxtrace_files "$word"
        case '*:-o' '*:--output' '*:--symfs'
            __fish_complete_directories "$word"
    end
end

# An argument that has so many others before it
function __auxtrace_argument -a subcommand number word
    switch $subcommand:$number
        case list:0 around:0
            __auxtrace_event "$word"
        case why-slow:0
            __auxtrace_open : (__auxtrace_files "$word")
        case dump:0
            __auxtrace_files "$word"
        case script:0 report:0 export:0
            __fish_complete_directories "$word"
        case 'selftest:*'
            auxtrace selftest '' 2>&1 | sed -n '/.*the checks are /{s///; s/, /\n/g; p;}'
    end
end

function __auxtrace
    set -l said (commandline -opc)
    set -l word (commandline -ct)
    set -l last (count $said)
    set -l subcommand $said[2]
    if test $last -le 1; or test $subcommand = help
        auxtrace --help 2>/dev/null | sed -nE 's/^  ([a-z-]+) +(.*)/\1\t\2/p'
        test $last -gt 1; or printf '%s\n' help\t'the man page of a command' --help --version
        return
    end
    # The number of the argument that begins a COMMAND: what follows that, or --, is no option.
    set -l command -1
    switch $subcommand
        case record last
            set command 0
        case around why-slow
            set command 1
    end
    set -l valued (__auxtrace_valued $subcommand)
    set -l arguments 0
    set -l ended 0
    set -l option
    set -l i 3
    while test $i -le $last
        if test $ended -eq 0; and test "$said[$i]" = --
            set ended 1
        else if test $ended -eq 0; and string match -q -- '-*' $said[$i]
            if contains -- $said[$i] $valued
                set i (math $i + 1)
                test $i -le $last; or set option $said[$last]
            end
        else if test $arguments -eq $command
            break
        else
            set arguments (math $arguments + 1)
        end
        set i (math $i + 1)
    end
    set -l is_option 0
    if test $ended -eq 0; and test $i -gt $last; and string match -q -- '-*' "$word"
        set is_option 1
    end
    if test -n "$option"
        __auxtrace_value $subcommand $option "$word"
    else if test $is_option -eq 1; and string match -q -- '--*=*' "$word"
        set -l parts (string split -m 1 = -- $word)
        __auxtrace_value $subcommand $parts[1] "$parts[2]" | string replace -r '^' -- $parts[1]=
    else if test $is_option -eq 1
        __auxtrace_options $subcommand
    else if test $arguments -eq $command
        # As if that command stood alone
        test $i -gt $last; or set -l line (string escape -- $said[$i..-1])
        complete -C (string join ' ' -- $line "$word")
    else
        __auxtrace_argument $subcommand $arguments "$word"
    end
end

complete -c auxtrace -f -a '(__auxtrace)'
