# shellcheck shell=bash disable=SC2034
# What the shell tests share: TAP lines on standard output, and commands checked by exit status and
# by what they print. Source it first:  . "$(dirname "$0")/tap.sh" ASSAY SOURCE
# It leaves $assay and $source as absolute paths and the working directory fresh and empty ($work).
assay=$(realpath "$1")
source=$(realpath "$2")
work=$(mktemp -d)
trap 'umount "$work/small" 2>/dev/null; rm -rf "$work"' EXIT
cd "$work" || exit 2
count=0
failed=0

ok() { count=$((count + 1)); echo "ok $count - $1"; }
not_ok() {
    failed=1
    count=$((count + 1))
    echo "not ok $count - $1"
    head -q -c 6000 out err 2>/dev/null | sed 's/^/# /'
}
skip() { count=$((count + 1)); echo "ok $count - $1 # SKIP $2"; }
finish() { echo "1..$count"; return $failed; }

tell() { # STATUS NAME: 0 is good
    if [ "$1" = 0 ]; then ok "$2"; else not_ok "$2"; fi
}

runs() { # STATUS NAME COMMAND...: the exit status is STATUS
    local want=$1 name=$2
    shift 2
    "$@" >out 2>err
    local status=$?
    if [ $status = "$want" ]; then ok "$name"; else
        echo "# exit status $status, expected $want: $*"
        not_ok "$name"
    fi
}

prints() { # PATTERN NAME COMMAND...: exit status 0 or 1 and a line that matches PATTERN
    local pattern=$1 name=$2
    shift 2
    "$@" >out 2>err
    if [ $? -le 1 ] && grep -Eq -- "$pattern" out; then ok "$name"; else
        echo "# pattern $pattern: $*"
        not_ok "$name"
    fi
}

refused() { # NAME PATTERN COMMAND...: exit 2, one line on stderr that matches PATTERN
    local name=$1 pattern=$2
    shift 2
    "$@" >out 2>err
    local status=$?
    if [ $status = 2 ] && [ "$(wc -l <err)" = 1 ] && grep -Eq -- "$pattern" err; then ok "$name"; else
        echo "# exit status $status, pattern $pattern: $*"
        not_ok "$name"
    fi
}
