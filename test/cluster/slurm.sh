#!/usr/bin/env bash
# The array job on a real Slurm of one node, and GNU parallel's line: shards merge to the bytes of one run, one that was
# killed is run again alone. Called by ./dev slurm. TAP; slurmctld and slurmd run from a temporary folder, and end with it.
#
#   slurm.sh ASSAY SOURCE
set -u
skip_all() { echo "1..0 # SKIP $1"; exit 0; }
for program in slurmctld slurmd sbatch; do
    command -v "$program" >/dev/null || skip_all "$program is not installed (slurm-wlm)"
done
[ "$(id -u)" = 0 ] || skip_all "slurmd needs root"
. "$(dirname "$0")/../cli/tap.sh" "$@"
model=$source/datasets/models/res_dsconv.onnx
images=$source/datasets/glyphs
daemons=()
end() {
    [ ${#daemons[@]} = 0 ] || kill "${daemons[@]}" 2>/dev/null
    wait
    rm -rf "$work"
}
trap end EXIT

# ---- a cluster of this machine ----
free_port() { /usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("", 0)); print(s.getsockname()[1])'; }
host=$(hostname -s) cores=$(nproc)
mkdir state spool
export SLURM_CONF=$work/slurm.conf ASSAY=$assay
cat >slurm.conf <<CONF
ClusterName=assay
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$(free_port)
SlurmdPort=$(free_port)
SlurmUser=root
AuthType=auth/none
CredType=cred/none
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
KillWait=2
MpiDefault=none
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
NodeName=$host NodeAddr=127.0.0.1 CPUs=$cores State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
CONF
slurmctld -D >slurmctld.log 2>&1 & daemons+=($!)
slurmd -D -N "$host" >slurmd.log 2>&1 & daemons+=($!)
idle() { sinfo -h -o %T 2>/dev/null | grep -q '^idle'; }
for ((i = 0; i < 60; i++)); do
    ! idle || break
    sleep 0.5
done
idle || skip_all "slurm does not run here: $(tail -q -n 1 slurmd.log slurmctld.log | tr '\n' ' ')"
echo "# $(slurmd -V), $cores cores"

job=$source/test/cluster/array.sbatch
array() { sbatch --parsable --wait --array="$1" "$job" "${@:2}" >out 2>err; } # waits for the end of all tasks

# ---- profile and eval as array jobs ----
profiled=(profile "$model" -d "$images/calibration" -n 64)
runs 0 "a profile on one machine" "$assay" "${profiled[@]}" -q -o one.yaml
runs 0 "an array job of 5 profiles" array 1-5 5 "${profiled[@]}"
runs 0 "merge them" "$assay" profile merge profile-3.yaml profile-1.yaml profile-5.yaml profile-4.yaml profile-2.yaml -o merged.yaml
runs 0 "the bytes of one run" cmp one.yaml merged.yaml

evaluated=(eval "$model" -p merged.yaml -s tflite -d "$images/test" -n 200)
"$assay" "${evaluated[@]}" -q --json one.json >one.txt 2>err
tell $? "an evaluation on one machine"
runs 0 "an array job of 7 evaluations" array 1-7 7 "${evaluated[@]}"
same() { # NAME: the shards eval-*.json are the one run
    "$assay" eval merge $(printf '%s\n' eval-*.json | shuf) --json merged.json >merged.txt 2>err
    tell $? "$1: merge them in random order"
    runs 0 "$1: the text of one run" cmp one.txt merged.txt
    runs 0 "$1: the JSON of one run" cmp one.json merged.json
}
same "of 7 tasks"

# ---- a task that is killed, and run again alone ----
rm -f eval-*.json
cat >slow.sh <<'SLOW'
#!/bin/sh
[ "$SLURM_ARRAY_TASK_ID" != 3 ] || [ -e retry ] || { touch waiting; sleep 600; }
exec "$REAL_ASSAY" "$@"
SLOW
chmod +x slow.sh
REAL_ASSAY=$assay ASSAY=$work/slow.sh sbatch --parsable --array=1-4 "$job" 4 "${evaluated[@]}" >id 2>err
for ((i = 0; i < 240; i++)); do
    [ ! -e waiting ] || [ "$(printf '%s\n' eval-*.json | wc -l)" != 3 ] || break
    sleep 0.5
done
runs 0 "one task is killed" scancel --signal=KILL --full "$(cat id)_3"
for ((i = 0; i < 60; i++)); do
    [ -n "$(squeue -h -t PD,R,CG)" ] || break
    sleep 0.5
done
runs 1 "it leaves no file" test -e eval-3.json
refused "which merge says" "sample 100 of \[0, 200\) is missing" "$assay" eval merge eval-1.json eval-2.json eval-4.json
touch retry
runs 0 "it is run again alone" array 3 4 "${evaluated[@]}"
same "of 4 tasks, one of them again"

# ---- the same by GNU parallel ----
rm -f eval-*.json
if command -v parallel >/dev/null; then
    cat >line.sh <<'LINE'
parallel --will-cite --joblog log --resume -j 2 $ASSAY "$@" -q -j 1 --shard {}/6 -o eval-{}.json ::: $(seq 6)
LINE
    runs 0 "parallel runs 6" bash line.sh "${evaluated[@]}"
    same "by parallel"
    rm eval-2.json
    sed -i '/--shard 2\/6/d' log # as if the machine had gone down
    runs 0 "the same line again" bash line.sh "${evaluated[@]}"
    runs 0 "runs the one that is not in its log" sh -c '[ "$(find . -name "eval-*.json" -newer line.sh | wc -l)" = 6 ] && tail -n 1 log | grep -q "shard 2/6"'
    same "by parallel, one of them again"
else
    skip "parallel" "GNU parallel is not installed"
fi
finish
