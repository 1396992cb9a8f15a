// usage: bench_symbols FILE COUNT [CACHE]
// Resolves COUNT addresses spread over FILE's code and prints "seconds peak_rss_mib frames". One run is one report's
// share of symbol work; with a CACHE file the second run is a second report.
#include "symbols/resolver.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <elf.h>
#include <fstream>
#include <sys/resource.h>
#include <vector>

int main(int argc, char** argv) {
    if (argc < 3)
        return 2;
    std::ifstream file(argv[1], std::ios::binary);
    Elf64_Ehdr header{};
    file.read(reinterpret_cast<char*>(&header), sizeof header);
    std::vector<Elf64_Phdr> segments(header.e_phnum);
    file.seekg(static_cast<std::streamoff>(header.e_phoff));
    file.read(reinterpret_cast<char*>(segments.data()),
              static_cast<std::streamsize>(segments.size() * sizeof(Elf64_Phdr)));
    plumb::model::Module module;
    module.path = argv[1];
    module.kind = plumb::model::Module::Kind::program;
    for (const Elf64_Phdr& segment : segments)
        if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X)) {
            module.file_offset = segment.p_offset & ~uint64_t{4095};
            module.start = 0x7f0000000000;
            module.end = module.start + segment.p_filesz;
        }

    const auto count = std::strtoull(argv[2], nullptr, 10);
    const auto begin = std::chrono::steady_clock::now();
    size_t frames = 0, with_line = 0;
    {
        plumb::symbols::Options options;
        options.debuginfod = false;
        options.cache_file = argc > 3 ? argv[3] : "";
        const auto resolver = plumb::symbols::make_resolver(options);
        for (uint64_t i = 0; i < count; ++i) {
            const auto found = resolver->resolve(module, module.start + (module.end - module.start) / count * i);
            frames += found.size();
            with_line += found.back().line != 0;
        }
    } // writes the cache
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    std::printf("%.4f %.1f %zu %zu\n", elapsed.count(), static_cast<double>(usage.ru_maxrss) / 1024, frames, with_line);
}
