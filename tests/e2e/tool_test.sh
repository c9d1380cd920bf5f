#!/bin/sh
# What the tool makes easy, and what it says to commands that are wrong.
. "$(dirname "$0")/lib.sh"

cd "$work" || exit 1
# wrong TEXT WORDS...: is refused as a wrong command line, with this text.
wrong() { check "a wrong command is told" refused "$@"; }
refused() {
  text=$1
  shift
  "$phoenix" "$@" >"$work/refusal" 2>&1
  code=$?
  grep -q -- "$text" "$work/refusal" && [ $code -eq 2 ] && return
  echo "code $code"
  cat "$work/refusal"
  return 1
}
wrong "there is no 'statsu'; did you mean 'status'?; see phoenix --help" statsu
wrong "there is no 'rnu'; did you mean 'run'" rnu
wrong "there is no 'migrate'; see phoenix --help" migrate
wrong "phoenix: a command is missing; see phoenix --help"
wrong "no option '--timout'; did you mean '--timeout'?; see phoenix run --help" run --timout=3 -n4 true
wrong "no option '--wathc'; did you mean '--watch'" status --wathc
wrong "no option '--jsno'; did you mean '--json'" ps --jsno
wrong "there is no option '--places'; see phoenix up" up --places 3
wrong "did you mean '--local'" up --looclal=3
wrong "not expected: now" down now
wrong "JOB is required" kill
wrong "one of JOB and --daemon" logs
wrong "daemon excludes JOB" logs j1 --daemon
wrong "vnodes is required, as -n 8, in front of the program; see" run -- true
wrong "in front of the program" run true -n 8
wrong "COMMAND is required" run -n 4
wrong "--vnodes: '0' is no number from 1 to 16777216; see" run -n 0
wrong "--vnodes: 'x' is no number from 1 to 16777216; see" run -np x
wrong "--timeout: '-1' is no number above 0; see" run --timeout -1
wrong "--timeout: 'nan' is no number above 0; see" run --timeout nan
wrong "--timeout: '1e10' is more than thirty years; see" run --timeout 1e10
wrong "inf is no number of seconds" mpirun --timeout inf true
wrong "COMMAND begins with an empty word" run -n 4 -- ""
wrong "--on: 'true' is no number; see" run -n 4 --on true
wrong "--signal needs a value; see" kill -s
wrong "there is no 'heta'; did you mean 'heat'?; see phoenix demo" demo heta
wrong "FIGURE is required" experiment
wrong "no experiment 'amg': agm, drain, drop, exchange, fig6, fig7" experiment amg --out x
wrong "'--mesh' goes behind 'status'; see phoenix status --help" --mesh default status
wrong "'j5' would be taken for the number of a job" run --name j5 -n 4 true
wrong "8; it has to be 16, or a multiple of 4 that is 64 or more" sim --scenario costs --processors 8
wrong "6; it has to be a multiple of 4 that is 16 or more" sim --scenario mesh --processors 6
wrong "json is for the scenarios costs and mesh" sim --json
wrong "processors is for the scenarios costs and mesh" sim --scenario churn --processors 16
wrong "topology has no effect on the scenario costs" sim --scenario costs --topology one.topology
wrong "trace has no effect on the scenario mesh" sim --scenario mesh --trace
wrong "wire has no effect on the scenario costs" sim --scenario costs --wire
wrong "seed has no effect on the scenario costs" sim --scenario costs --seeds 0..3
printf 'run 1s\n' >script
wrong "script: --seed has no effect on a scenario file" sim --scenario script --seed 3
wrong "script: --topology has no effect on a scenario file" sim --scenario script --topology one.topology
check "the last seed there is ends a simulation" says "^1 runs, 0 with" timeout 60 "$phoenix" sim --scenario churn-small --seed 18446744073709551615
wrong "cannot read none.topology" experiment sizes --topology none.topology --out x
wrong "are for sizes, not for agm" experiment agm --reduce --out x
wrong "adaptive is for fig7, not for agm" experiment agm --adaptive --out unmade
wrong "out: given 2 times" experiment agm --out unmade --out x
printf 'site A 1\nnic 1000\n' >one.topology
wrong "one.topology: collectives of one processor send nothing" experiment sizes --topology one.topology --out unmade
wrong "cannot write to one.topology/in: Not a directory" experiment agm --out one.topology/in
wrong "more than 20000 are not simulated" sim --scenario mesh --processors 4000000000
check "and no folder is made" test ! -e unmade
wrong "there is no plan 'agm'; there are flat, binomial, .*, greedy" plan --plans flat,agm
wrong "bandwidth excludes --arrivals" plan --arrivals --bandwidth
wrong "bandwidth: in a network of one processor" plan --topology one.topology --bandwidth
wrong "json before bcast would be lost; see phoenix bench bcast" bench --json bcast
wrong "only before round would be lost" bench --only pair round
wrong "no option '--roots'" bench allreduce --roots 0
wrong "bytes: 1024 is there twice" bench bcast --bytes 1K,1024
wrong "roots: 1 is there twice" bench reduce --roots 1,0,1
printf 'site A 3000 100\nnic 1000\nlink * * 1000\n' >many.topology
"$phoenix" plan --topology many.topology --bytes 1 >many.txt 2>many.err
check "a plan that is too much is left out of the table" grep -q '^mpich  *-' many.txt
check "which has the others" grep -q '^greedy  *[0-9]' many.txt
check "and is named" grep -q "left out: 'mpich' is for at most" many.err
wrong "'mpich' is for at most" plan --topology many.topology --bytes 1 --plans flat,mpich
wrong "bandwidth excludes --json" plan --json --bandwidth
check "arrivals are told in JSON" says '"arrivals-ms": \[' "$phoenix" plan --plans flat --bytes 1 --json --arrivals
check "an experiment" says "Figure 7: 20 broadcasts" "$phoenix" experiment agm --out figures
cat >agm.awk <<'END'
$1 == "learned" { learned = $2 }
NF == 2 && $1 == "AGM" { agm = $2 }
NF == 2 && $1 == "MagPIe-like" { magpie = $2 }
END { exit !(learned > 0 && learned <= agm && learned <= magpie) }
END
check "in AGM's network the learned tree is the shortest" awk -f agm.awk figures/agm.txt
check "and its files" test -s figures/agm.csv -a -s figures/agm.svg -a -s figures/agm.txt
check "which say what makes them" says "^phoenix experiment agm --seed 1$" head -1 figures/agm.txt
check "and those of another seed" "$phoenix" experiment agm --seed 2 --out figures
check "stand beside them" test -s figures/agm-seed2.csv -a -s figures/agm-seed2.svg -a -s figures/agm-seed2.txt
check "help says how they are called" says "sizes-NETWORK-1a2b3c-reduce-seed2.csv" "$phoenix" experiment --help
printf 'site A 1 100\nsite B 1 100\nlink * * 1000\nlatency A B 1000\nnic 1000\n' >two.topology
"$phoenix" experiment sizes --topology two.topology --out figures >sizes.txt 2>&1
check "fields with a comma are quoted" says 'sizes,"learned, first",1,' cat figures/sizes-two-*.csv
check "sites are counted" says "Broadcasts to 2 processors in 2 sites" cat figures/sizes-two-*.txt
timeout -s INT 5 "$phoenix" experiment fig9 --out unmade >/dev/null 2>progress.txt
(trap '' XFSZ; ulimit -f 2; "$phoenix" experiment agm --out full 2>&1; echo "code $?") | cat >full.txt
check "what cannot be written is told with the reason" says "cannot write full/agm.csv: File too large" cat full.txt
check "and the table all the same" says "Figure 7: 20 broadcasts" cat full.txt
check "with the code for it" says "code 2" cat full.txt
check "and nothing is left of the files" rmdir full
check "what takes long says since when" says "waiting since .* for a .* so far" cat progress.txt
check "and an interrupt leaves no folder" test ! -e unmade
wrong "say where: --local N, HOST ..., or --hosts FILE" add
wrong "excludes" run --timestamp --output-dir=x -n4 true
wrong "--log requires --detach" run --log=x -n4 true
wrong "no folder nowhere" run --wdir=nowhere -n4 true
check "no name for a mesh" fails_with "'a/b' is no name for a mesh" "$phoenix" status --mesh a/b
printf '# ours\nlab3:7000\n' >hosts
wrong "hosts:2: 'lab3:7000': HOST:N is a number of daemons, .*; listen=ADDRESS:PORT says the port" up --hosts hosts
wrong "'lab3:0': HOST:N is a number of daemons" mpirun --hosts lab3:0 -n 1 true
wrong "'lab3:70000': HOST:N is a number of daemons" mpirun --hosts lab3:70000 -n 1 true
wrong "PROCESSOR is required" drain
wrong "say where" up
wrong "no option '--onyl'; did you mean '--only'" bench --onyl
# Found by the tool, before anything is started.
wrong "roots 9: the vnodes are 0 to 2" bench bcast -n 3 --bytes 1,4 --roots 0,9
wrong "roots 16: the vnodes are 0 to 15" bench bcast --roots 16
wrong "-n: '0' is no number from 1 to 1024" bench bcast -n 0
wrong "--ordered sums doubles of 8 bytes, and --bytes 12 is no multiple" bench reduce -n 2 --bytes 8,12 --ordered
wrong "--ordered sums doubles of 8 bytes, and --bytes 1 is no multiple" bench allreduce -n 2 --bytes 1 --ordered
wrong "there is no schedule 'nosuch'; there are ranks, rotation, .*, predicted" \
  bench redistribution --schedules ranks,nosuch

check "help is there without dashes, too" says "Usage: phoenix run" "$phoenix" help run
check "the version" says "^phoenix [0-9]" "$phoenix" version
# What is made of the descriptions of --help.
check "a manual page" sh -c "$phoenix manual | grep -q 'SS phoenix run'"
check "that roff takes" sh -c "! command -v groff || test -z \"\$($phoenix manual | groff -ww -man -Tutf8 2>&1 >/dev/null)\""
check "and one of the daemon" sh -c "$bin/phoenixd --manual | grep -q 'SH SIGNALS, EXIT CODES'"
check "that roff takes, too" sh -c "! command -v groff || test -z \"\$($bin/phoenixd --manual | groff -ww -man -Tutf8 2>&1 >/dev/null)\""
cat >complete.sh <<'END'
eval "$("$1" manual --completion)"
words() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _phoenix; echo "${COMPREPLY[*]}"; }
test "$(words phoenix att)" = attach && test "$(words phoenix run --timeo)" = --timeout &&
  test "$(words phoenix demo elastic --cha)" = --change && test "$(words phoenix demo qu)" = queens
END
check "bash completes" bash complete.sh "$phoenix"
cat >complete.sh <<'END'
eval "$("$1" manual --completion)"
phoenix() { case $1 in status) printf 'mesh\np1  up\np12  up\n' ;; ps) printf 'JOB\nj7  night\n' ;; esac; }
words() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _phoenix; echo "${COMPREPLY[*]}"; }
test "$(words phoenix drain p)" = "p1 p12" && test "$(words phoenix logs j)" = j7 && test "$(words phoenix attach j)" = j7
END
check "also what is there" bash complete.sh "$phoenix"
# Options that stand in a file.
export PHOENIX_CONFIG="$work/config"
wrong "cannot read the configuration $work/config" status
# config_says TEXT LINES: a command with this configuration is refused with this text.
config_says() { printf '%s\n' "$2" >config; wrong "$1" run -n 1 true; }
config_says "config:2: 'timoeut' is no option of phoenix run; did you mean 'timeout'?" "[run]
timoeut = 3"
config_says "config:1: there is no command 'rnu'; did you mean 'run'?" "[rnu]"
config_says "config:2: 'timeout' needs a value" "[run]
timeout ="
config_says "config:1: 'no-tags' is yes or no, not 'perhaps'" "no-tags = perhaps"
config_says "phoenix run: --timeout: '-1' is no number above 0 ($work/config:3); see" "# comment
[run]
timeout = -1"
# Words of the program are its own.
printf '[run]\ntimeout = 0.5\n' >config
# shellcheck disable=SC2016 # For the process's shell.
check "an option of the program stays as it is" says '^.p1. -np 5$' "$phoenix" run --on 1 -np 1 sh -c 'echo $0 $1' -np 5
check "and is none of the tool" ends_with 124 \
  "$phoenix" run --on 1 -n 1 --attach-timeout 60 sh -c 'sleep 60' --timeout 90
printf 'mesh = nowhere\n[bench]\nrepeatt = 3\n' >config
wrong "config:3: 'repeatt' is no option of phoenix bench" demo heat
printf 'mesh = nowhere\n' >config
check "what a verb is to do has defaults, too" fails_with "no mesh 'nowhere'" "$phoenix" demo heat
check "and for bench" fails_with "no mesh 'nowhere'" "$phoenix" bench bcast
printf 'mesh = red\n[run]\nno-tags\nenv = COLOUR=red\nwdir = /nowhere\n' >config

check "there is no mesh yet" says "no mesh of yours" "$phoenix" list
check "and no program finds one" test "$("$phoenix" list --json)" = "[]"
check "help names the environment" says "PHOENIX_DIR" "$phoenix" --help
check "a mesh named by the environment starts" env PHOENIX_MESH=blue "$phoenix" up --local 2 --bind -q
export PHOENIX_MESH=blue
wrong "-n 5: the mesh 'blue' has only 2 processors" bench reduce --mesh blue -n 5
wrong "roots 2: the vnodes are 0 to 1" bench reduce --mesh blue --roots 2
check "and is listed" says "^blue  *2 " "$phoenix" list
check "also for programs" says '"daemons_here": 2' "$phoenix" list --json
check "and found" says "2 processors" "$phoenix" status
measured() { "$phoenix" network | grep -q "^s1  *p1-2 .*[0-9]$" && "$phoenix" network | grep -q "^processors: [0-9]"; }
await "its network is measured" measured
check "times below a microsecond are some" sh -c "! $phoenix network --topology | grep '^overhead 0$'"
check "trees that there are none of" ends_with 2 "$phoenix" run --tree foo -n 1 -- true
check "are told from those that there are" fails_with "no trees 'foo'; there are learned, " \
      "$phoenix" run --tree foo -n 1 -- true
"$phoenix" network --topology >"$work/net"
check "whose rates are plain numbers" sh -c "! grep -E '^(nic|link) .*[+]' '$work/net'"
check "which is a topology file" says "^2 processors" "$phoenix" plan --topology "$work/net" --bytes 1
check "and JSON" says '"latency_ms": [0-9]' "$phoenix" network --json
check "the tree of p2 has an edge with its latency" says '^  p1 (s1)  [0-9.]* ms, [0-9.?+]* Mbit' "$phoenix" trees p2
check "and is a graph" says 'p2 -> p1 \[label="[0-9.]* ms' "$phoenix" trees p2 --dot
check "long messages have two" says '"number": 32' "$phoenix" trees --bytes 4M --json
check "as pictures" "$phoenix" trees --bytes 4M --svg "$work/tree.svg"
check "one each" grep -q "<svg.*" "$work/tree-1.svg" "$work/tree-2.svg"
check "nobody has a tree that is no member" says "no processor or machine 'p9'" "$phoenix" trees p9

# shellcheck disable=SC2016 # For the processes' shells.
fitted() { "$phoenix" run -n 1 --fit --wdir . "$@"; }
check "what the file says holds" says '^red$' fitted -- sh -c 'echo $COLOUR'
check "but the command line prevails" says '^blue$' fitted -x COLOUR=blue -- sh -c 'echo $COLOUR'
rm config
export PHOENIX_CONFIG=/dev/null
export FRUIT_A=apple FRUIT_B=banana
check "many variables at once" says '^.p[12]. apple banana$' fitted -x 'FRUIT_*' -- sh -c 'echo $FRUIT_A $FRUIT_B'
check "one without a value is told" says "-x NOWHERE: it has no value here" fitted -x NOWHERE -- true
unset FRUIT_A FRUIT_B
bound() { "$phoenix" run -n 2 --no-tags -- grep Cpus_allowed_list /proc/self/status | sort -u | wc -l; }
check "each daemon has processors of its own" test "$(bound)" -eq "$(nproc | awk '{ print ($1 > 1 ? 2 : 1) }')"

"$phoenix" run -np 1 --fit --timestamp -- "$travel" say "$work/go" >lines 2>errors &
job=$!
await "a line comes as it is printed" grep -q "^[0-9:]*\.[0-9]* \[p[12]\] begun" lines
check "one process is enough for one vnode" says " 1 *1  *p" "$phoenix" ps
check "what a job is called is enough to end it" "$phoenix" kill travel
wait $job
"$phoenix" run -n 1 --fit --no-line-buffer -- "$travel" say "$work/go" >lines 2>errors &
job=$!
await "the next one runs" says "travel .* 1 *1 *p" "$phoenix" ps
check "a signal has a name" "$phoenix" kill -s TERM travel
wait $job
check "how it ended is told by name" grep -q "killed by SIGTERM (signal 15)" errors
check "and what it printed was not shown" test ! -s lines
check "no such signal" fails_with "no signal 'TREM'" "$phoenix" kill -s TREM j1

check "a job whose time is up is ended" ends_with 124 \
  "$phoenix" run -n 2 --timeout 0.5 --attach-timeout 60 -- sleep 60
check "one that is in time is not" ends_with 3 "$phoenix" run -n 1 --fit --timeout 60 -- sh -c 'exit 3'
mkdir apart
check "a folder of its own" says "$work/apart" "$phoenix" run -n 1 --fit --wdir apart -- pwd
check "output goes to files" "$phoenix" run -n 1 --fit --output-dir out -- echo one
check "where few files may be open, each process has its two" \
  env -u PHOENIX_MESH sh -c "ulimit -S -n 14; $phoenix run -n 6 --on 6 --output-dir six -- sh -c 'echo out; echo err >&2; ulimit -S -n'"
check "and as many as its daemon" test "$(cat six/p*.out | grep -c '^14$')" = 6
check "a used folder is told" says "files of an earlier job (p[12].out)" \
  "$phoenix" run -n 1 --fit --output-dir out -- echo two

# 1 MB each, without an end of line until then.
long='i=0; while [ $i -lt 16 ]; do head -c 65000 /dev/zero | tr "\0" x; i=$((i + 1)); done; echo'
check "two long lines" sh -c "$phoenix run -n 2 -- sh -c '$long' >long"
check "stay whole" test "$(awk 'length($0) == 1040005' long | wc -l)" -eq 2

check "a detached job" test "$("$phoenix" run -d -n 1 --fit --name night -- echo done 2>/dev/null)" = j14
check "is found by its name" says "done" "$phoenix" logs -f night
check "and tells its time" says "j14 took [0-9.]* s" "$phoenix" logs -f night
check "no such job" fails_with "'day' is no job" "$phoenix" attach day
code_of() { "$phoenix" "$@" >/dev/null 2>&1; printf %s $?; }
check "nor processor: both are no misuse" \
      test "$(code_of kill j99; code_of kill day; code_of status day; code_of drain p99; code_of trees p99)" = 11111
# The job of a tool that was killed is completed by the one that follows it to its end.
check "another one" "$phoenix" run -d -n 1 --fit --attach-timeout 60 --name over -- sleep 1
record=$PHOENIX_DIR/.jobs/blue.j15
kill -KILL "$(awk -v inode="$(stat -c %i "$record")" '$6 ~ ":" inode "$" { print $5 }' /proc/locks)"
check "whose tool is killed is followed" "$phoenix" attach over
check "and its record says how it ended" grep -q "^code 0" "$record"
touch -d '10 days ago' "$record"
check "old records go" sh -c "$phoenix run -d -n 1 --fit -- true && ! test -e $record"

check "a process on each processor" test "$("$phoenix" run -n 1 -- echo here 2>/dev/null | grep -c here)" -eq 2
check "or no more than there are vnodes" test "$(fitted -- echo here 2>/dev/null | grep -c here)" -eq 1
check "which the help says at -n" says "vnodes.* every processor gets a process, see --fit" \
  sh -c "$phoenix run --help | tr -s ' \n' ' '"

# Names that are no text are shown, and harm nothing.
"$phoenix" run -n 1 --attach-timeout 600 --name "$(printf 'odd\377\nj99')" -- sleep 600 >odd 2>&1 &
job=$!
await "a job with an odd name runs" says "j99  *1 " "$phoenix" ps
check "which JSON can tell" says '"name": "odd.*?j99"' "$phoenix" status --json
check "it is ended by its name" "$phoenix" kill "$(printf 'odd\377?j99')"
wait $job

# Who is missing where others wait.
"$phoenix" run -n 4 -- "$travel" lag "$work/come" >lag 2>&1 &
job=$!
await "the missing one is named" says "p2 waits for .*; missing: p1 (v0-1), computing for [0-9]* s" "$phoenix" ps
check "a job is shown alone" says "^p2 *running *2-3 *2 *[0-9.]* B *0 *[1-9][0-9.]* s *recv by v3" "$phoenix" status travel
check "and its vnodes" says "^v2 *p2 *1 *8 B *0 *0.0 s" "$phoenix" status travel
check "with the time each has waited" says "^v3 *p2 *0 *0 B *0 *[1-9][0-9.]* s" "$phoenix" status travel
check "as data, too" says '"waited_ms": [1-9][0-9]*,' "$phoenix" status --json travel
check "with who is missing" says "missing: p1" "$phoenix" status travel
touch come
check "it goes on" wait $job
check "no such job" fails_with "no job j99; see phoenix ps" "$phoenix" status j99
check "also not while it is watched" fails_with "no job j99" timeout 10 "$phoenix" status j99 --watch
check "an empty value" fails_with "plan: --topology: the value is empty" "$phoenix" plan --topology ""
check "a negative seed" fails_with "plan: --shuffle: '-1' is below 0" "$phoenix" plan --shuffle -1
check "a seed of 70 bits" fails_with "is too large" "$phoenix" plan --shuffle 999999999999999999999
check "no number" fails_with "drain: --timeout: 'nan' is no number" "$phoenix" drain --timeout nan p1
check "nor for a daemon" fails_with "^phoenixd: --peer-timeout: 'nan' is no number" "$bin/phoenixd" --peer-timeout nan
printf '[plan]\nplans = flat\n' >"$work/plans"
check "defaults of a verb that another program does" says "^flat " env PHOENIX_CONFIG="$work/plans" "$phoenix" plan --bytes 1
check "are all that it does" test "$(env PHOENIX_CONFIG="$work/plans" "$phoenix" plan --bytes 1 | grep -c '^binomial')" -eq 0
check "what it prints and nobody gets is an error" fails_with "cannot write to standard output" \
  sh -c "$phoenix plan --plans flat --bytes 1 >/dev/full"
mkdir -p "$work/alone/bin"
cp "$phoenix" "$work/alone/bin"
check "without that program it says so" fails_with "cannot start phoenix-experiments: No such file or directory; the target" \
  "$work/alone/bin/phoenix" sim
check "and other verbs work" says "^mesh " "$work/alone/bin/phoenix" status
check "a folder as a file" fails_with "cannot read $work: it is a folder" "$phoenix" plan --topology "$work"
check "a descriptor that is not open" fails_with "descriptor 99 is not open" "$bin/phoenixd" --end-with 99
: >"$work/nothing"
check "an empty scenario" fails_with "the scenario is empty" "$phoenix" sim --scenario "$work/nothing"
check "too many daemons" fails_with "has at most 1024 daemons" env -u PHOENIX_MESH PHOENIX_DIR="$work/none" "$phoenix" run -n 3 --on 2000 -- true
check "a log that cannot be written" fails_with "cannot write $work/no/log" "$phoenix" run -d --log "$work/no/log" -n 2 -- true
check "words of a program may be empty" "$phoenix" run -n 1 -- sh -c 'test "$1" = ""' sh ""
"$phoenix" run -n 4 -- "$travel" leave >leave 2>&1 &
job=$!
await "one that has finished is named" says "p2 waits for .*; missing: p1 (v0-1), which has finished" "$phoenix" ps
await "its own tool says so unasked" \
  grep -q "phoenix: nothing has happened in j[0-9]* for 1[0-9] s: p2 waits for .*; missing: p1 (v0-1), which has finished" leave
check "and its job is ended" "$phoenix" kill travel
wait $job

# Calls that do not fit together.
"$phoenix" run -n 4 -- "$travel" odds >odds 2>&1 &
job=$!
await "who waits in which call is told" \
  says "p1 waits for barrier (a reduction to v0 lacks v2-3); p2 waits for broadcast by v2 from v0; nobody computes$" "$phoenix" ps
check "and the job is ended" "$phoenix" kill travel
wait $job

check "so is a broadcast that nobody takes" \
  says "phoenix: a broadcast from v0 has not been received by v2 (and 1 more): the program has called .* with another root there" \
  "$phoenix" run -n 4 -- "$travel" roots "$work/rooted"

# A process with a daemon inside, and nobody else who could say why it ends.
for wrong in -3 x 1x; do
  check "no number of vnodes: $wrong" fails_with "PHOENIX_VNODES=$wrong is no number" \
        env PHOENIX_VNODES=$wrong "$travel" abort
done
check "the reason of an abort is told" says "p1 ended the job with code 5: no more paper" "$travel" abort
check "and its code is the exit code" ends_with 5 "$travel" abort
check "so is the want of an input" says "nowhere.png" "$demos/heat" --input nowhere.png
check "a demo has one help" test "$("$phoenix" demo heat --help | grep -c Usage)" -eq 1

kill -9 "$(sed -n 's/.*"pid": \([0-9]*\).*/\1/p' "$PHOENIX_DIR/blue/p2.json")"
await "a daemon that was killed is out" says "1 processor," "$phoenix" status
check "another one comes" "$phoenix" add --local 1 -q
check "what the dead one has left goes" sh -c "! test -e $PHOENIX_DIR/blue/p2.json"

# Many small things at once, of which the allocator would keep tens of MiB.
check "a job of many vnodes" "$phoenix" run -n 8000 -- "$travel" run 20
lean() {
  for pid in $(sed -n 's/.*"pid": \([0-9]*\).*/\1/p' "$PHOENIX_DIR"/blue/p*.json); do
    awk '/^VmRSS/ { print; exit $2 > 30 * 1024 }' "/proc/$pid/status" || return 1
  done
}
await "its memory is given back" lean

# What a job did, in figures and as a page.
reports() { "$phoenix" ps | grep -q "reported" && "$phoenix" status | grep -q "^p1 .*j[0-9]*:"; }
"$phoenix" run -n 8 --name reported --report-file page.svg -- "$demos/heat" --until "$work/enough" >heat.out 2>report &
job=$!
await "a job runs that is to be reported" reports
check "its first processor is drained" "$phoenix" drain p1
touch enough
check "it ends well" wait $job
# Whichever came first: times count from there.
check "the first process begins at 0" grep -q "^p[0-9]* *0.0 s" report
check "with figures of each process" grep -q "^p1 *[0-9.]* s *[0-9.]* s *- *[1-9][0-9]* *[0-9.]* .iB .* [1-9][0-9]* *[0-9]" report
check "of vnodes" grep -q "^v[0-7] *[1-9][0-9]* .*iB *[01] *[0-9.]* s$" report
check "and moves" grep -q "^[1-9][0-9]* vnodes moved, in the middle [0-9.]* .*s on the way" report
check "the page is complete" sh -c "head -c4 page.svg | grep -q '<svg' && tail -n 1 page.svg | grep -q '</svg>'"
check "and shows moves" grep -q "<title>v[0-7].* from p1 to p[0-9]* at [0-9.]* s" page.svg
check "data instead" "$phoenix" run -n 2 --report-file data.json -- "$travel" run 5
check "can be read" grep -q '"messages": [1-9]' data.json
check "the page has a name" "$phoenix" run -n 2 --report -- "$travel" run 5
check "of its own" sh -c "ls phoenix-j*.svg"
check "who has no session is not known" says "no phx::Session, or the job ended first" \
  "$phoenix" run -n 1 --report --fit -- true
check "a page that cannot be written is told before" ends_with 2 \
  "$phoenix" run -n 1 --report-file /nowhere/page.svg -- touch begun
check "and nothing begins" test ! -e begun

for i in $(seq 100); do touch -d '1 hour ago' "$PHOENIX_DIR/blue/phoenixd-99999$i.log"; done
check "another one comes" "$phoenix" add --local 1 -q
check "of daemons that have ended 64 logs stay" test "$(ls "$PHOENIX_DIR"/blue/phoenixd-*.log | wc -l)" -le 68
check "the daemons have logs" says "p1" "$phoenix" logs --daemon
check "the mesh ends" "$phoenix" down
check "their logs stay" says "p1" "$phoenix" logs --daemon
check "an unknown mesh has none" fails_with "no daemon" "$phoenix" logs --daemon --mesh red
check "a mesh whose daemons" "$phoenix" up -q --local 1 --mesh lost
kill -KILL "$(sed -n 's/.*"pid": \([0-9]*\).*/\1/p' "$PHOENIX_DIR/lost/p1.json")"
printf '{"endpo' >"$PHOENIX_DIR/lost/mesh.json"
check "are not known any more keeps its key" fails_with "names no daemon" "$phoenix" down --mesh lost
check "until it is forgotten" "$phoenix" down --mesh lost --forget
# On a terminal.
if command -v script >/dev/null; then
  check "how far a start was is cleared before what is wrong is told" sh -c "script -qc \
    '$phoenix up --local 2 --mesh half --daemon-option=--nowhere' /dev/null | tr '\\033' '~' | grep -q '~.Kphoenix: .*0 of 2'"
fi
check "no mesh is listed" says "no mesh of yours" "$phoenix" list
check "a daemon that may open few files says so" fails_with "no more than 14 files open, and needs 64" \
  sh -c "ulimit -n 14; $phoenix up --local 4"
all_done
