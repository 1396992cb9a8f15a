// Names of data come from ELF and DWARF sections that anybody may have written: seeded changes of a program's sections,
// so that a run can be repeated, and questions about its data after each.
//   fuzz-data-names PROGRAM MUTATIONS [SEED]
// A failing mutation is left in fuzz-data-names-failure.bin. An answer that takes over 20 s or 1 GiB fails.
#include "symbols/resolver.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

namespace {

using plumb::model::DataAccess;
using plumb::model::Module;
using Image = std::vector<unsigned char>;
using Random = std::mt19937_64;

constexpr unsigned kMaxSeconds = 20;
constexpr long kMaxKilobytes = 1 << 20;
constexpr const char* kFailure = "fuzz-data-names-failure.bin";
constexpr uint64_t kLoadedAt = 0x7f0000000000;

struct Range {
    uint64_t begin = 0, end = 0;
};

struct Program {
    Image image;
    std::vector<Range> sections; // in the file: what names are read from
    Range code, data;            // addresses in the file
    uint64_t code_offset = 0;    // of `code`
};

template <class Header> std::vector<Header> headers(const Image& image, uint64_t offset, size_t count) {
    std::vector<Header> all(count);
    if (offset > image.size() || image.size() - offset < count * sizeof(Header))
        return {};
    std::memcpy(all.data(), image.data() + offset, count * sizeof(Header));
    return all;
}

Program read_program(const char* path) {
    Program program;
    std::ifstream file(path, std::ios::binary);
    program.image.assign(std::istreambuf_iterator<char>(file), {});
    if (program.image.size() < sizeof(Elf64_Ehdr))
        return program;
    Elf64_Ehdr elf;
    std::memcpy(&elf, program.image.data(), sizeof elf);
    for (const Elf64_Phdr& segment : headers<Elf64_Phdr>(program.image, elf.e_phoff, elf.e_phnum)) {
        if (segment.p_type != PT_LOAD)
            continue;
        const Range range{segment.p_vaddr, segment.p_vaddr + segment.p_memsz};
        if (segment.p_flags & PF_X) {
            program.code = range;
            program.code_offset = segment.p_offset;
        } else if (segment.p_flags & PF_W) {
            program.data = range;
        }
    }
    const auto sections = headers<Elf64_Shdr>(program.image, elf.e_shoff, elf.e_shnum);
    if (elf.e_shstrndx >= sections.size())
        return program;
    for (const Elf64_Shdr& section : sections) {
        const char* name =
            reinterpret_cast<const char*>(program.image.data()) + sections[elf.e_shstrndx].sh_offset + section.sh_name;
        const bool names = std::strncmp(name, ".debug_", 7) == 0 || section.sh_type == SHT_SYMTAB ||
                           section.sh_type == SHT_STRTAB || std::strcmp(name, ".eh_frame") == 0;
        if (names && section.sh_type != SHT_NOBITS && section.sh_size > 0)
            program.sections.push_back({section.sh_offset, section.sh_offset + section.sh_size});
    }
    return program;
}

size_t below(Random& random, size_t end) { return random() % end; }

void change(Random& random, const Program& program, Image& image) {
    static constexpr unsigned char kTelling[] = {0, 1, 2, 0x7f, 0x80, 0xff};
    for (size_t changes = 1 + below(random, 16); changes > 0; --changes) {
        const Range& section = program.sections[below(random, program.sections.size())];
        const size_t place = section.begin + below(random, section.end - section.begin);
        switch (random() % 4) {
        case 0:
            image[place] ^= static_cast<unsigned char>(1 << random() % 8);
            break;
        case 1:
            image[place] = kTelling[below(random, std::size(kTelling))];
            break;
        case 2:
            image[place] = static_cast<unsigned char>(random());
            break;
        default: { // from elsewhere in the section
            const size_t length = std::min<size_t>(1 + below(random, 16), section.end - place);
            const size_t from = section.begin + below(random, section.end - section.begin - length + 1);
            const Image block(image.begin() + static_cast<ptrdiff_t>(from),
                              image.begin() + static_cast<ptrdiff_t>(from + length));
            std::copy(block.begin(), block.end(), image.begin() + static_cast<ptrdiff_t>(place));
        }
        }
    }
}

// How many of all questions got a name.
size_t ask(const Program& program, const std::string& path, Random& random) {
    plumb::symbols::Options options;
    options.debuginfod = false;
    options.debug_directories.clear();
    const auto resolver = plumb::symbols::make_resolver(options);
    Module module;
    module.path = path;
    module.kind = Module::Kind::program;
    module.file_offset = program.code_offset;
    module.start = kLoadedAt + program.code.begin;
    module.end = kLoadedAt + program.code.end;
    size_t names = 0;
    for (int question = 0; question < 16; ++question) {
        const uint64_t instruction = kLoadedAt + program.code.begin + below(random, program.code.end - program.code.begin);
        const uint64_t address = kLoadedAt + program.data.begin + below(random, program.data.end - program.data.begin);
        names += resolver->name_static(module, address, 8, instruction).has_value();
        DataAccess access;
        access.width = 8;
        access.instruction = instruction;
        access.code = {0xf2, 0x0f, 0x58, 0x47, 0x05}; // addsd 5(%rdi), %xmm0
        access.frame_address = 0x7ffe00001000;
        access.address = access.frame_address - below(random, 256);
        access.base_value = access.address - 5;
        names += resolver->name_local(module, access).has_value();
        access.block_start = access.base_value;
        access.block_bytes = 64;
        names += resolver->name_by_type(module, access).has_value();
    }
    return names;
}

void write(const std::string& path, const Image& image) {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(image.data()), static_cast<std::streamsize>(image.size()));
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 3) {
        std::fprintf(stderr, "usage: fuzz-data-names PROGRAM MUTATIONS [SEED]\n");
        return 2;
    }
    const std::string path = std::filesystem::absolute(argv[1]); // modules with other paths are not opened
    const Program program = read_program(path.c_str());
    if (program.sections.empty() || program.data.end == 0 || program.code.end == 0) {
        std::fprintf(stderr, "fuzz-data-names: %s is no 64-bit ELF program with symbols and data\n", argv[1]);
        return 1;
    }
    Random random(argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1);
    const size_t whole = ask(program, path, random);
    if (whole == 0) {
        std::fprintf(stderr, "fuzz-data-names: nothing in %s has a name even before any change\n", argv[1]);
        return 1;
    }
    const unsigned long mutations = std::strtoul(argv[2], nullptr, 10);
    size_t names = 0;
    for (unsigned long i = 0; i < mutations; ++i) {
        Image image = program.image;
        change(random, program, image);
        write(kFailure, image);
        alarm(kMaxSeconds);
        names += ask(program, std::filesystem::absolute(kFailure), random);
        alarm(0);
        rusage usage;
        getrusage(RUSAGE_SELF, &usage);
        if (usage.ru_maxrss > kMaxKilobytes) {
            std::fprintf(stderr, "fuzz-data-names: mutation %lu took more than %ld KiB\n", i, kMaxKilobytes);
            return 1;
        }
    }
    std::filesystem::remove(kFailure);
    std::printf("%lu mutations, %zu names of data in them (%zu in 16 places of the whole program)\n", mutations, names,
                whole);
    return 0;
}
