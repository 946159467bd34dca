#!/usr/bin/env bash
# What `meson install` gives to those who link: names, sizes, flags.
#   install.sh ASSAY SOURCE BUILD STRIP COMPILER...       TAP; STRIP: the build's option
set -u
build=$(realpath "$3") strip=$4
. "$(dirname "$0")/../cli/tap.sh" "$1" "$2"
shift 4
cc=("$@")

runs 0 "installs" meson install -C "$build" --no-rebuild --destdir "$work/root"
archive=$(find root -name libassay.a) shared=$(find root -name 'libassay.so.*.*.*')
pc=$(dirname "$(find "$PWD/root" -name assay.pc)")

# Names that a program or its other libraries may have too.
foreign() { # NM-OPTION FILE: global names that are not ours
    nm -g --defined-only "$1" "$2" | awk 'NF == 3 { print $3 }' | grep -v '^assay_'
}
runs 1 "the archive has no global name without assay_" foreign -A "$archive"
runs 1 "nor has the shared library" sh -c "nm -D --defined-only '$shared' | awk '\$2 != \"A\" { print \$3 }' | grep -Ev '^(\.gomp_critical_user_)?assay_'"
names() { "$@" | awk 'NF >= 3 { print $NF }' | sed 's/@.*//' | grep '^assay_' | sort -u; }
names nm -g --defined-only "$archive" >in-archive
names nm -D --defined-only "$shared" >in-shared
runs 0 "both have the same names, and some" sh -c 'cmp in-archive in-shared && [ -s in-archive ]'
declared() { find root -path '*/include/*.h' -exec sed -E '/^[a-z].*[( *]assay_[a-z_]+\(/!d; /^(typedef|static|#)/d; s/^[^(]*[ *](assay_[a-z_]+)\(.*/\1/' {} + | sort -u; }
declared >in-headers
runs 0 "they are what the headers declare" sh -c 'diff in-headers in-shared'
listed() { sed -n 's/^ *\(assay_[a-z_]*\);$/\1/p' "$source/interp/assay.map" | sort -u; }
listed >in-list
runs 0 "and those that assay.map lists" diff in-list in-shared
if ! nm -D "$shared" | grep -q ' A ASSAY_'; then skip "each has a version" "this linker knows no versions"; else
    runs 1 "each has a version" sh -c "nm -D --with-symbol-versions --defined-only '$shared' | grep ' assay_' | grep -v '@@ASSAY_[0-9.]*$'"
fi
if [ "$strip" != true ]; then skip "the shared library carries no debug information" "this build has -Dstrip=false"; else
    runs 1 "the shared library carries no debug information" sh -c "readelf -SW '$shared' | grep '\.debug_info'"
fi

instruments=' U __(asan|ubsan|gcov|llvm_prof)'
# What man and the shells read.
if [ -z "$(find root -name assay.1)" ]; then skip "a page of the manual for each command" "a cross build"; else
    { echo assay; "$assay" help | grep '^  ' | cut -c3-15 | sed 's/ *$//;s/^/assay-/;y/ /-/'; } | sort >commands
    find root -path '*/man/man1/*.1' -printf '%f\n' | sed 's/\.1$//' | sort >pages
    runs 0 "a page of the manual for each command, and for all" diff commands pages
    runs 0 "completion for bash and zsh" sh -c 'find root | grep /bash-completion/completions/assay$ && find root | grep /zsh/site-functions/_assay$'
fi

runs 0 "pages of prose" sh -c 'cd "$0"/interp/cli/man && for page in *.7; do find "$1" -path "*/man/man7/$page" | grep . || exit 1; done' "$source" "$PWD/root"

# A machine with none of the packages that Assay was built with.
export PKG_CONFIG_LIBDIR=$pc PKG_CONFIG_SYSROOT_DIR=$work/root
unset PKG_CONFIG_PATH
prints '-I.*include' "pkg-config --cflags asks for no other package" pkg-config --cflags assay
prints '-lassay' "nor does --libs" pkg-config --libs assay
prints '-lpng.* -lz' "--static names what the archive needs, and what that needs" pkg-config --static --libs assay

for header in assay.h assay_arithmetic.h assay_measures.h assay_tools.h graph/base.h schemes/vtable.h; do
    for language in c c++; do
        if [ $language = c++ ] && ! command -v c++ >out; then skip "$header serves alone in C++" "no C++ compiler"; continue; fi
        echo "#include <$header>" >"alone.$language"
        read -ra flags < <(pkg-config --cflags assay)
        if [ $language = c ]; then compiler=("${cc[@]}"); else compiler=(c++); fi
        [[ $header != assay_* ]] || echo 'int main(void) { assay_load_options o = ASSAY_OPTIONS(assay_load_options); return o.batch != 0; }' >>"alone.$language"
        runs 0 "$header serves alone in $language" "${compiler[@]}" -x $language -Wall -Wextra -Werror -fsyntax-only "alone.$language" "${flags[@]}"
    done
done
if ! command -v cmake >out; then skip "CMake finds it" "cmake is not installed"; else
    printf '%s\n' 'cmake_minimum_required(VERSION 3.18)' 'project(t C)' 'find_package(assay 0.1 REQUIRED)' 'add_executable(t t.c)' \
        'target_link_libraries(t assay::assay)' >CMakeLists.txt
    printf '#include <assay_tools.h>\nint main(void) { return assay_scheme_preset(0) == NULL; }\n' >t.c
    runs 0 "CMake finds it" env CC="${cc[*]}" cmake -S . -B made -Dassay_DIR="$(dirname "$(find "$PWD/root" -name assay-config.cmake)")"
    prints "good" "and a program is built with it" sh -c "cmake --build made && echo good"
    sed -i 's/assay::assay/assay::static/' CMakeLists.txt
    if nm "$archive" | grep -Eq "$instruments"; then skip "and with the archive" "an instrumented build"; else
        prints "good" "and with the archive" env -u PKG_CONFIG_SYSROOT_DIR sh -c "cmake --build made && made/t && echo good"
    fi
fi
cat >program.c <<'END'
#include <assay.h>
#include <stdio.h>
int check_reject(void), onnx__model_proto__init(void); /* as inside of the archive */
int check_reject(void) { return 1; }
int onnx__model_proto__init(void) { return 2; }
int main(void) { return check_reject() + onnx__model_proto__init() == 3 && assay_fail(NULL, ASSAY_OK, "none") == ASSAY_OK ? 0 : 1; }
END
if nm "$archive" | grep -Eq "$instruments"; then
    skip "programs link" "an instrumented build"
else
    read -ra flags < <(pkg-config --cflags --libs assay)
    runs 0 "a program links with the shared library" "${cc[@]}" program.c -o dynamic "${flags[@]}"
    LD_LIBRARY_PATH=$(dirname "$shared") runs 0 "and runs" ./dynamic
    unset PKG_CONFIG_SYSROOT_DIR # the archive's other libraries are this machine's
    read -ra flags < <(pkg-config --static --libs assay | sed "s/-lassay//")
    runs 0 "a program with names of ours links with the archive" "${cc[@]}" program.c -I"$(dirname "$(find root -name assay.h)")" "$archive" -o static "${flags[@]}"
    runs 0 "and runs" ./static
    echo 'int main(void) { return 0; }' >bare.c
    if ! "${cc[@]}" -static bare.c -o bare 2>out; then skip "a program without shared libraries" "this system has no static C library"; else
        runs 0 "a program without shared libraries" "${cc[@]}" -static program.c -I"$(dirname "$(find root -name assay.h)")" "$archive" -o alone "${flags[@]}"
        runs 0 "and it runs" ./alone
    fi
fi
finish
