#!/bin/sh
# usage: build_flavours.sh SOURCE_DIR OUT_DIR STAMP
# Builds one program in the ways in which programs reach a profiler. A compiler or tool that is not there leaves its
# flavour out; the test says so.
set -eu
source=$1 out=$2 stamp=$3
rm -rf "$out"
mkdir -p "$out/debug" "$out/split5" "$out/split4"
cp "$source/shapes.cpp" "$source/furnace.f90" "$out"
cd "$out"
have() { command -v "$1" >/dev/null 2>&1; }
id='-Wl,--build-id=sha1'

g++ -g -O2 -c shapes.cpp -o gcc.o
g++ $id gcc.o -o gcc
g++ -g -O0 $id shapes.cpp -o gcc_O0
g++ $id -Wl,--build-id=none gcc.o -o no_id
(cd split5 && g++ -g -O2 -gdwarf-5 -gsplit-dwarf -c ../shapes.cpp -o s5.o && g++ $id s5.o -o ../gcc_split5)
(cd split4 && g++ -g -O2 -gdwarf-4 -gsplit-dwarf -c ../shapes.cpp -o s4.o && g++ $id s4.o -o ../gcc_split4)
g++ -g -O2 -fno-pie -no-pie $id shapes.cpp -o no_pie
g++ -g -O2 -static $id shapes.cpp -o static
g++ -g -O2 -fPIC -shared $id shapes.cpp -o libshapes.so

cp gcc gcc_compressed && objcopy --compress-debug-sections=zlib gcc_compressed
strip --strip-debug gcc -o symbols_only
strip --strip-all libshapes.so -o libdynamic_only.so
strip --strip-all gcc -o bare

# Separate debug files: by link beside the file, by link in .debug/, by build id, by link without any build id.
objcopy --only-keep-debug gcc linked.debug
strip --strip-all gcc -o linked && objcopy --add-gnu-debuglink=linked.debug linked
mkdir -p .debug && objcopy --only-keep-debug gcc .debug/linked_hidden.debug
(cd .debug && strip --strip-all ../gcc -o ../linked_hidden &&
    objcopy --add-gnu-debuglink=linked_hidden.debug ../linked_hidden)
objcopy --only-keep-debug no_id no_id.debug
strip --strip-all no_id -o linked_no_id && objcopy --add-gnu-debuglink=no_id.debug linked_no_id
digits=$(readelf -n gcc | sed -n 's/.*Build ID: //p')
first=$(printf %.2s "$digits")
mkdir -p "debug/.build-id/$first"
cp linked.debug "debug/.build-id/$first/${digits#"$first"}.debug"

# What a debuginfod server would answer.
mkdir -p "server/buildid/$digits"
cp linked.debug "server/buildid/$digits/debuginfo"

if have xz; then # .gnu_debugdata as distributions make it
    cp symbols_only mini && xz -f mini
    strip --strip-all gcc -o mini_debug_info && objcopy --add-section .gnu_debugdata=mini.xz mini_debug_info
fi
for clang in clang++ clang++-14 clang++-16 clang++-19; do
    if have $clang; then
        $clang -g -O2 -gdwarf-5 $id shapes.cpp -o clang_5
        $clang -g -O2 -gdwarf-4 $id shapes.cpp -o clang_4
        break
    fi
done
if have gfortran; then
    gfortran -g -O0 -fopenmp $id furnace.f90 -o fortran
    strip --strip-debug fortran -o fortran_symbols_only
fi
if have dwz; then
    cp gcc dwz_one && cp no_pie dwz_two && dwz -m common.debug dwz_one dwz_two
fi
cd - >/dev/null
echo done >"$stamp"
