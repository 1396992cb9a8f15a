// Rules of images that are put together here, byte for byte.
#include "platform/unwind/unwind_rule.h" // of the shim
#include "unwind/unwind_image.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <elf.h>
#include <string>
#include <string_view>

using namespace plumb;
using shim::CfaKind;
using shim::UnwindRule;

#if defined(__x86_64__)

namespace {

constexpr uint64_t kCode = 0x1000; // the code described, from its address on

class Bytes {
  public:
    size_t size() const { return bytes_.size(); }
    template <class Number> Bytes& number(Number value) {
        bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
        return *this;
    }
    Bytes& text(std::string_view bytes) {
        bytes_ += bytes;
        return *this;
    }
    Bytes& pad_to(size_t size) {
        bytes_.resize(size);
        return *this;
    }
    // An entry: its length, then what it holds.
    Bytes& entry(const Bytes& contents) { return number(static_cast<uint32_t>(contents.size())).text(contents.bytes_); }
    std::span<const unsigned char> view() const { return {reinterpret_cast<const unsigned char*>(bytes_.data()), bytes_.size()}; }

  private:
    std::string bytes_;
};

Elf64_Ehdr elf_header(uint16_t segments, uint16_t sections, uint64_t section_headers) {
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = ET_DYN;
    header.e_machine = EM_X86_64;
    header.e_version = EV_CURRENT;
    header.e_ehsize = sizeof header;
    header.e_phoff = sizeof header;
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_phnum = segments;
    header.e_shoff = section_headers;
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = sections;
    header.e_shstrndx = 1;
    return header;
}

Elf64_Phdr segment(uint32_t type, uint64_t address, uint64_t bytes) {
    Elf64_Phdr header{};
    header.p_type = type;
    header.p_flags = PF_R | PF_X;
    header.p_offset = header.p_vaddr = address;
    header.p_filesz = header.p_memsz = bytes;
    return header;
}

// The canonical frame address of procedure linkage tables, as the linker describes it: rsp + 8, and 8 more from the 11th byte of
// each 16 on, where the number of the function has been pushed.
constexpr std::string_view kStubProgram("\x0f\x0b\x77\x08\x80\0\x3f\x1a\x3b\x2a\x33\x24\x22", 13);
constexpr std::string_view kCommonProgram("\x0c\x07\x08\x90\x01", 5); // rsp + 8, the return address below it

// An image whose .eh_frame_hdr lies at `header`, and describes 64 bytes of stubs.
Bytes image_of_stubs(uint64_t header) {
    constexpr uint64_t kHeaderBytes = 12 + 8;
    const uint64_t cie = header + kHeaderBytes;
    Bytes common, own, image;
    common.number(uint32_t{0}).text(std::string_view("\1zR\0\1\x78\x10\1\x1b", 9)).text(kCommonProgram);
    const uint64_t fde = cie + 4 + common.size();
    own.number(static_cast<uint32_t>(fde + 4 - cie)).number(static_cast<int32_t>(kCode - (fde + 8))).number(uint32_t{64}).number('\0');
    own.text(kStubProgram);
    image.number(elf_header(2, 0, 0)).number(segment(PT_LOAD, 0, 0x2000)).number(segment(PT_GNU_EH_FRAME, header, kHeaderBytes));
    image.pad_to(header).text(std::string_view("\x01\x1b\x03\x3b", 4)).number(static_cast<int32_t>(cie - (header + 4)));
    image.number(uint32_t{1}).number(static_cast<int32_t>(kCode - header)).number(static_cast<int32_t>(fde - header));
    image.entry(common).entry(own).number(uint32_t{0}).pad_to(0x2000);
    return image;
}

} // namespace

TEST_CASE("stubs of the procedure linkage table are unwound by where they lie, wherever their image's table does") {
    for (const uint64_t header : {0x200u, 0x204u, 0x208u, 0x20cu}) {
        const Bytes image = image_of_stubs(header);
        const auto table = unwind::UnwindImage::of_memory(image.view());
        REQUIRE(table);
        for (uint64_t place = 0; place < 64; ++place) {
            const UnwindRule rule = UnwindRule::unpack(table->rule_at(kCode + place));
            CHECK(rule.cfa == CfaKind::from_sp);
            CHECK(rule.cfa_offset == (place % 16 >= 11 ? 16 : 8));
        }
        CHECK(UnwindRule::unpack(table->rule_at(kCode + 64)).cfa == CfaKind::no_table);
    }
}

#endif
