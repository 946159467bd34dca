# shellcheck shell=bash disable=SC2154
# Fresh Debian 12 systems in chroots made with debootstrap, from the mirror that this machine's apt uses: what the
# tests on such systems share. Source it; root and network access are needed, and $work, a folder for them; $user is one who is
# not root there, at home in $home. skip_all WHY ends a test that cannot run.
user=tester home=/home/tester

skip_all() { echo "1..0 # SKIP $1"; exit 0; }

apt_sources() { # this machine's lines for Debian 12
    apt-get indextargets --format "deb \$(REPO_URI) \$(CODENAME) \$(COMPONENT)" 'Identifier: Packages' 2>/dev/null |
        grep -E ' bookworm(-updates|-security)? ' | sort -u
}

make_base() { # DIR: the bare system
    local base=$1 mirror
    mirror=$(apt_sources | awk '$3 == "bookworm" { print $2; exit }')
    [ -n "$mirror" ] || skip_all "this machine's apt has no source for Debian 12 (bookworm)"
    debootstrap --variant=minbase bookworm "$base" "$mirror" >"$work/debootstrap.log" 2>&1 ||
        skip_all "debootstrap fails: $(tail -n 1 "$work/debootstrap.log")"
    apt_sources >"$base/etc/apt/sources.list"
    apt-config dump 2>/dev/null | grep -iE '^Acquire::[a-z:]*proxy' >"$base/etc/apt/apt.conf.d/90host"
    cp -L /etc/resolv.conf /etc/hosts "$base/etc/" 2>/dev/null
    [ ! -f /etc/ssl/certs/ca-certificates.crt ] || install -D -t "$base/etc/ssl/certs" -m 644 /etc/ssl/certs/ca-certificates.crt
    within "$base" root true >"$work/chroot.log" 2>&1 || skip_all "chroots cannot be used: $(tail -n 1 "$work/chroot.log")"
    within "$base" root useradd -m -s /bin/bash "$user" || skip_all "no user can be made"
}

within() { # ROOT USER COMMAND...: there, with the environment of a new login; its processes end with it
    local root=$1 who=$2 at=/
    shift 2
    [ ! -d "$root$home/assay" ] || at=$home/assay
    # shellcheck disable=SC2016
    unshare --mount --pid --fork --kill-child sh -c '
        root=$1 who=$2; shift 2
        mount --make-rprivate / && mount -t proc proc "$root/proc" &&
            mount -t devpts -o newinstance,ptmxmode=666 devpts "$root/dev/pts" && exec chroot --userspec="$who" "$root" "$@"' \
        sh "$root" "$who" /usr/bin/env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        HOME="$([ "$who" = root ] && echo /root || echo $home)" LANG=C.UTF-8 TERM=dumb \
        ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
        sh -c 'cd "$1" && shift && exec "$@"' sh "$at" "$@" </dev/null
}

apt_install() { # ROOT PACKAGE...: said in $log
    local root=$1
    shift
    within "$root" root sh -c 'apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"' sh "$@" >>"$log" 2>&1
}
