#!/bin/sh
# usage: build_elf_seeds.sh REPLAY CORPUS
# Writes the ELF files of the corpus anew: elf_seed.cpp as compilers make it, whole and as its sections (fuzz-replay --parts).
set -eu
replay=$1 corpus=$2 source=$(dirname "$0")/elf_seed.cpp
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp "$source" "$folder"
mkdir -p "$corpus/elf_headers" "$corpus/elf_symbols" "$corpus/unwind_tables" "$corpus/line_tables" "$corpus/inlines"
compile() { # NAME COMPILER OPTIONS: small pages, so that the file is small
    name=$1
    shift
    (cd "$folder" && "$@" -fno-exceptions -fno-stack-protector -ffile-prefix-map="$folder=/src" -nostdlib -Wl,-z,max-page-size=4096 \
        -Wl,-z,noseparate-code -Wl,--build-id elf_seed.cpp -o "$name")
}
compile gcc_dwarf5 g++ -O2 -g -fno-pie -static
compile gcc_dwarf4 g++ -O1 -g -gdwarf-4 -fno-pie -static
compile gcc_shared g++ -O2 -DSHARED -fPIC -shared
if command -v clang++-14 >/dev/null; then
    compile clang_dwarf5 clang++-14 -O1 -g -gdwarf-5 -fno-pie -static
fi
for file in "$folder"/*_dwarf*; do
    for target in line_tables inlines; do
        "$replay" --parts "$file" "$corpus/$target/$(basename "$file")"
    done
done
compile gcc_debug_frame g++ -O2 -g -fno-asynchronous-unwind-tables -fno-pie -static
objcopy -R '.debug_[!f]*' "$folder/gcc_debug_frame" "$corpus/unwind_tables/gcc_debug_frame"
for target in elf_headers elf_symbols unwind_tables; do
    cp "$folder/gcc_shared" "$corpus/$target/"
    strip -g "$folder/gcc_dwarf5" -o "$corpus/$target/gcc_static"
done
