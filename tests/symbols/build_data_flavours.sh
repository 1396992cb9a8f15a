#!/bin/sh
# usage: build_data_flavours.sh SOURCE_DIR OUT_DIR STAMP
# Builds the programs with data to name in the ways that debug info comes in. A compiler that is not there leaves its
# flavours out; the test says so.
set -eu
source=$1 out=$2 stamp=$3
rm -rf "$out"
mkdir -p "$out"
cp "$source/records.cpp" "$source/commons.f90" "$out"
cd "$out"
have() { command -v "$1" >/dev/null 2>&1; }
id='-Wl,--build-id=sha1'

g++ -g -O0 $id records.cpp -o records_gcc_O0
g++ -g -O2 $id records.cpp -o records_gcc_O2
g++ -g -O2 -gdwarf-4 -fno-pie -no-pie $id records.cpp -o records_gcc_4
g++ -g -O0 -gdwarf-5 -gsplit-dwarf $id -c records.cpp -o split.o && g++ $id split.o -o records_gcc_split
cp records_gcc_O2 records_compressed && objcopy --compress-debug-sections=zlib records_compressed
objcopy --only-keep-debug records_gcc_O2 records_linked.debug
strip --strip-all records_gcc_O2 -o records_linked && objcopy --add-gnu-debuglink=records_linked.debug records_linked
strip --strip-debug records_gcc_O2 -o records_symbols
strip --strip-all records_gcc_O2 -o records_bare
for clang in clang++ clang++-14 clang++-16 clang++-19; do
    if have $clang; then
        $clang -g -O0 -gdwarf-5 $id records.cpp -o records_clang_O0
        $clang -g -O2 -gdwarf-4 $id records.cpp -o records_clang_4
        break
    fi
done
if have gfortran; then
    for level in O0 O2; do
        gfortran -std=legacy -w -g -$level $id commons.f90 -o commons_$level
    done
    strip --strip-debug commons_O0 -o commons_symbols
fi
cd - >/dev/null
echo done >"$stamp"
