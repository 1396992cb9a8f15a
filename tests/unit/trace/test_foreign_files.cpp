// Files of a run that somebody else prepared: none is waited for, and none takes more memory or time than it stores bytes.
#include "platform/read_file.h"
#include "symbols/address_names.h"
#include "symbols/elf/elf_image.h"
#include "symbols/frame_cache.h"
#include "symbols/dwarf/nested_ranges.h"
#include "unwind/unwind_image.h"

#include <catch2/catch.hpp>
#include <cerrno>
#include <cstring>
#include <elf.h>
#include <filesystem>
#include <fstream>
#include <random>
#include <sys/stat.h>
#include <unistd.h>

using namespace plumb;
using symbols::NestedRanges;

namespace {

class Folder {
  public:
    Folder() {
        char name[] = "/tmp/plumb-foreign-XXXXXX";
        path_ = mkdtemp(name);
    }
    ~Folder() { std::filesystem::remove_all(path_); }
    std::string operator/(const char* name) const { return path_ + "/" + name; }

  private:
    std::string path_;
};

std::string write(const std::string& path, const std::string& bytes, uint64_t size = 0) {
    std::ofstream(path, std::ios::binary) << bytes;
    if (size > 0)
        REQUIRE(truncate(path.c_str(), static_cast<off_t>(size)) == 0);
    return path;
}

template <class Part> void put(std::string& bytes, uint64_t offset, const Part& part) {
    if (bytes.size() < offset + sizeof part)
        bytes.resize(offset + sizeof part);
    std::memcpy(bytes.data() + offset, &part, sizeof part);
}

Elf64_Ehdr elf_header() {
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = header.e_version = EV_CURRENT;
    header.e_type = ET_DYN;
    header.e_machine = EM_X86_64;
    header.e_ehsize = sizeof header;
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_shentsize = sizeof(Elf64_Shdr);
    return header;
}

// An image whose one segment claims `bytes`, with an unwind table at its start.
std::string image_claiming(uint64_t bytes) {
    std::string image;
    Elf64_Ehdr header = elf_header();
    header.e_phoff = sizeof header;
    header.e_phnum = 2;
    Elf64_Phdr code{}, table{};
    code.p_type = PT_LOAD;
    code.p_flags = PF_R | PF_X;
    code.p_filesz = code.p_memsz = bytes;
    table.p_type = PT_GNU_EH_FRAME;
    table.p_vaddr = sizeof header + 2 * sizeof code;
    put(image, 0, header);
    put(image, sizeof header, code);
    put(image, sizeof header + sizeof code, table);
    const unsigned char start[] = {1, 0x1b, 0x03, 0x3b, 12, 0, 0, 0, 0, 0, 0, 0};
    put(image, table.p_vaddr, start);
    image.resize(4096);
    return image;
}

} // namespace

TEST_CASE("foreign files: only regular ones are opened, and not holes") {
    const Folder folder;
    const std::string plain = write(folder / "plain", "text"), pipe = folder / "pipe", link = folder / "link";
    REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
    REQUIRE(symlink(plain.c_str(), link.c_str()) == 0);
    const auto error_of = [](const std::string& path, bool follow) {
        const int fd = platform::open_foreign_file(path, follow);
        const int error = fd < 0 ? errno : 0;
        if (fd >= 0)
            close(fd);
        return error;
    };
    CHECK(error_of(plain, false) == 0);
    CHECK(error_of(link, true) == 0);
    CHECK(error_of(link, false) == ELOOP);
    CHECK(error_of(pipe, true) == EINVAL);
    CHECK(error_of("/dev/null", true) == EINVAL);
    CHECK(error_of(write(folder / "hole", "text", uint64_t{1} << 30), true) == EFBIG);
    CHECK(error_of(write(folder / "small hole", "text", 1 << 20), true) == 0);
}

TEST_CASE("foreign files: a map of generated code may be no pipe, no link and no hole") {
    const Folder folder;
    const std::string text = "1000 20 name of code\n", plain = write(folder / "plain", text);
    REQUIRE(symbols::AddressNames::from_perf_map(plain).at(0x1010));
    const std::string pipe = folder / "pipe", link = folder / "link"; // opening the pipe would wait for a writer
    REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
    REQUIRE(symlink(plain.c_str(), link.c_str()) == 0);
    CHECK(symbols::AddressNames::from_perf_map(pipe).empty());
    CHECK(symbols::AddressNames::from_perf_map(link).empty());
    CHECK(symbols::AddressNames::from_perf_map(write(folder / "hole", text, uint64_t{1} << 40)).empty());
}

TEST_CASE("foreign files: an unwind table is as large as the file stores, not as its header claims") {
    const Folder folder;
    const std::string whole = image_claiming(4096);
    CHECK(unwind::UnwindImage::read(write(folder / "whole", whole)));
    CHECK(unwind::UnwindImage::of_memory({reinterpret_cast<const unsigned char*>(whole.data()), whole.size()}));
    const std::string claiming = image_claiming(uint64_t{400} << 20);
    CHECK_FALSE(unwind::UnwindImage::read(write(folder / "short", claiming)));
    CHECK_FALSE(unwind::UnwindImage::read(write(folder / "hole", claiming, uint64_t{400} << 20)));
    CHECK_FALSE(unwind::UnwindImage::of_memory({reinterpret_cast<const unsigned char*>(claiming.data()), claiming.size()}));
}

// Copying nothing from a null pointer is undefined: the sanitized tests report it.
TEST_CASE("foreign files: an image without program headers has no unwind table") {
    std::string bytes;
    put(bytes, 0, elf_header());
    CHECK_FALSE(unwind::UnwindImage::of_memory({reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()}));
}

TEST_CASE("foreign files: code is read as far as the file has it") {
    const Folder folder;
    const auto image = symbols::ElfImage::open(write(folder / "code", image_claiming(uint64_t{1} << 60)));
    REQUIRE(image);
    CHECK(image->code_at(4000, uint64_t{1} << 59).size() == 96);
    CHECK(image->code_at(uint64_t{1} << 40, 16).empty());
    CHECK_FALSE(symbols::ElfImage::open(write(folder / "hole", image_claiming(4096), uint64_t{1} << 40)));
}

TEST_CASE("foreign files: the name and id of an alternate debug file are short") {
    const Folder folder;
    const auto file_with = [&](const std::string& content) {
        std::string bytes;
        Elf64_Ehdr header = elf_header();
        const std::string names("\0.gnu_debugaltlink\0.shstrtab\0", 29);
        Elf64_Shdr link{}, strings{};
        link.sh_name = 1;
        strings.sh_name = 19;
        link.sh_type = SHT_PROGBITS;
        strings.sh_type = SHT_STRTAB;
        strings.sh_offset = sizeof header;
        strings.sh_size = names.size();
        link.sh_offset = strings.sh_offset + strings.sh_size;
        link.sh_size = content.size();
        header.e_shoff = link.sh_offset + link.sh_size;
        header.e_shnum = 3;
        header.e_shstrndx = 2;
        put(bytes, 0, header);
        bytes += names + content;
        put(bytes, bytes.size(), Elf64_Shdr{});
        put(bytes, bytes.size(), link);
        put(bytes, bytes.size(), strings);
        const auto image = symbols::ElfImage::open(write(folder / "linked", bytes));
        REQUIRE(image);
        return image->alternate_link() + "|" + image->alternate_build_id();
    };
    using namespace std::string_literals;
    CHECK(file_with("common.debug\0\x12\x34"s) == "common.debug|1234");
    CHECK(file_with("common.debug\0"s + std::string(1 << 20, 'x')) == "|");
    CHECK(file_with(std::string(1 << 20, 'x') + "\0\x12"s) == "|");
}

TEST_CASE("foreign files: the innermost of nested ranges") {
    std::mt19937 random(1);
    for (int round = 0; round < 200; ++round) {
        std::vector<NestedRanges::Range> ranges;
        for (int i = 0; i < 12; ++i) {
            const uint64_t begin = random() % 40;
            ranges.push_back({begin, begin + random() % 30});
        }
        const NestedRanges nested(ranges);
        for (uint64_t address = 0; address < 80; ++address) {
            uint64_t shortest = UINT64_MAX;
            for (const auto& range : ranges)
                if (address >= range.begin && address < range.end)
                    shortest = std::min(shortest, range.end - range.begin);
            const auto found = nested.at(address);
            REQUIRE(found.has_value() == (shortest != UINT64_MAX));
            if (found) {
                CHECK(ranges[*found].end - ranges[*found].begin == shortest);
                CHECK((address >= ranges[*found].begin && address < ranges[*found].end));
            }
        }
    }
}

// Each holds all that follow: a search back through those that begin before an address would take 10^11 steps here.
TEST_CASE("foreign files: functions that all reach to the end cost no more than others") {
    constexpr uint64_t kCount = 500'000;
    std::vector<NestedRanges::Range> ranges;
    for (uint64_t i = 0; i < kCount; ++i)
        ranges.push_back({i, 2 * kCount - i});
    const NestedRanges nested(ranges);
    uint64_t right = 0;
    for (uint64_t i = 0; i < kCount; ++i)
        right += nested.at(2 * kCount - 1 - i) == i;
    CHECK(right == kCount);
}

TEST_CASE("foreign files: a cache of frames takes memory in proportion to what it stores") {
    // One long name, referred to by 17 bytes a frame: 82 KiB that stand for 131 MB.
    constexpr uint32_t kName = 1 << 16;
    constexpr uint16_t kFrames = 1000;
    std::string bytes("PLUMB-SYMBOLS-2\0", 16);
    const auto add = [&bytes](auto value) { bytes.append(reinterpret_cast<const char*>(&value), sizeof value); };
    add(uint32_t{1}), add(kName);
    bytes.append(kName, 'f');
    add(uint32_t{0}), add(uint32_t{0}), add(uint32_t{1}), add(uint64_t{0x1000}), add(kFrames); // module, identity; one address
    for (int i = 0; i < kFrames; ++i)
        add(uint32_t{0}), add(uint32_t{0}), add(uint32_t{7}), add(uint32_t{6}), add(uint8_t{0});
    symbols::FrameCache cache("");
    CHECK_FALSE(cache.load(bytes));
    bytes.erase(bytes.size() - 17 * (kFrames - 8));
    const uint16_t few = 8;
    bytes.replace(bytes.size() - 17 * few - sizeof few, sizeof few, reinterpret_cast<const char*>(&few), sizeof few);
    CHECK(cache.load(bytes)); // what programs have
}
