// Rules of images that are put together here, byte for byte.
#include "platform/unwind/unwind_rule.h" // of the shim
#include "unwind/unwind_image.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <elf.h>
#include <string>
#include <string_view>
#include <zlib.h>

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

// An image whose .eh_frame_hdr lies at `header`, and describes 64 bytes of code.
Bytes image_of(std::string_view program, uint64_t header) {
    constexpr uint64_t kHeaderBytes = 12 + 8;
    const uint64_t cie = header + kHeaderBytes;
    Bytes common, own, image;
    common.number(uint32_t{0}).text(std::string_view("\1zR\0\1\x78\x10\1\x1b", 9)).text(kCommonProgram);
    const uint64_t fde = cie + 4 + common.size();
    own.number(static_cast<uint32_t>(fde + 4 - cie)).number(static_cast<int32_t>(kCode - (fde + 8))).number(uint32_t{64}).number('\0');
    own.text(program);
    image.number(elf_header(2, 0, 0)).number(segment(PT_LOAD, 0, 0x2000)).number(segment(PT_GNU_EH_FRAME, header, kHeaderBytes));
    image.pad_to(header).text(std::string_view("\x01\x1b\x03\x3b", 4)).number(static_cast<int32_t>(cie - (header + 4)));
    image.number(uint32_t{1}).number(static_cast<int32_t>(kCode - header)).number(static_cast<int32_t>(fde - header));
    image.entry(common).entry(own).number(uint32_t{0}).pad_to(0x2000);
    return image;
}

// As linkers store compressed sections; `claimed`: the size that its header states.
Bytes compressed(const Bytes& section, uint64_t claimed) {
    std::string stored(compressBound(section.size()), '\0');
    uLongf size = stored.size();
    REQUIRE(compress(reinterpret_cast<Bytef*>(stored.data()), &size, section.view().data(), section.size()) == Z_OK);
    Elf64_Chdr header{};
    header.ch_type = ELFCOMPRESS_ZLIB;
    header.ch_size = claimed;
    return Bytes().number(header).text({stored.data(), size});
}

// An image without a table, whose .debug_frame describes 32 bytes of code behind an entry that describes nothing. `claimed`: if not
// 0, it is compressed.
Bytes image_of_debug_frame(uint8_t version, uint64_t claimed = 0) {
    Bytes common, nothing, own, frames, image;
    common.number(uint32_t{0xffffffff}).number(version).number('\0');
    if (version == 4)
        common.number(uint8_t{8}).number(uint8_t{0}); // sizes of addresses and segments
    common.text("\1\x78\x10").text(kCommonProgram);
    nothing.number(uint32_t{0}).number(uint64_t{0}).number(uint64_t{0});
    own.number(uint32_t{0}).number(kCode).number(uint64_t{32}).text("\x44\x0e\x30\x86\x02"); // 4 bytes on: rsp + 48, rbp saved
    frames.entry(common).entry(nothing).entry(own);
    if (claimed)
        frames = compressed(frames, claimed);

    constexpr std::string_view kNames("\0.debug_frame\0.names\0", 21);
    constexpr uint64_t kFramesAt = 0x200, kNamesAt = 0x400, kSectionsAt = 0x440;
    Elf64_Shdr names{}, section{};
    names.sh_name = 14;
    names.sh_type = section.sh_type = SHT_PROGBITS;
    names.sh_offset = kNamesAt;
    names.sh_size = kNames.size();
    section.sh_name = 1;
    section.sh_offset = kFramesAt;
    section.sh_size = frames.size();
    section.sh_flags = claimed ? SHF_COMPRESSED : 0;
    image.number(elf_header(1, 3, kSectionsAt)).number(segment(PT_LOAD, 0, 0x2000)).pad_to(kFramesAt);
    image.text({reinterpret_cast<const char*>(frames.view().data()), frames.size()}).pad_to(kNamesAt).text(kNames).pad_to(kSectionsAt);
    image.number(Elf64_Shdr{}).number(names).number(section).pad_to(0x2000);
    return image;
}

} // namespace

TEST_CASE("stubs of the procedure linkage table are unwound by where they lie, wherever their image's table does") {
    for (const uint64_t header : {0x200u, 0x204u, 0x208u, 0x20cu}) {
        const Bytes image = image_of(kStubProgram, header);
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

TEST_CASE("a caller's stack pointer that a function keeps on its own stack is followed") {
    struct Case {
        std::string_view program;
        CfaKind kind;
    };
    // *(rsp + 128) + 8; *(rsp + 128) + 16, for which there is no rule; *(rbp - 8) and that + 8; rbx + 16.
    for (const auto& [program, kind] : {Case{std::string_view("\x0f\x06\x77\x80\1\x06\x23\x08", 8), CfaKind::loaded_sp},
                                        Case{std::string_view("\x0f\x06\x77\x80\1\x06\x23\x10", 8), CfaKind::unknown},
                                        Case{std::string_view("\x0f\x03\x76\x78\x06", 5), CfaKind::loaded_bp},
                                        Case{std::string_view("\x0f\x05\x76\x78\x06\x23\x08", 7), CfaKind::unknown},
                                        Case{std::string_view("\x0c\x03\x10", 3), CfaKind::unknown}}) {
        const auto table = unwind::UnwindImage::of_memory(image_of(program, 0x200).view());
        REQUIRE(table);
        const UnwindRule rule = UnwindRule::unpack(table->rule_at(kCode));
        CHECK(rule.cfa == kind);
        if (kind == CfaKind::loaded_sp)
            CHECK(rule.cfa_offset == 128);
    }
}

TEST_CASE("code that .debug_frame alone describes is unwound by it") {
    for (const uint8_t version : {uint8_t{1}, uint8_t{3}, uint8_t{4}}) {
        const Bytes image = image_of_debug_frame(version);
        const auto table = unwind::UnwindImage::of_memory(image.view());
        REQUIRE(table);
        const UnwindRule at_entry = UnwindRule::unpack(table->rule_at(kCode + 3)), behind = UnwindRule::unpack(table->rule_at(kCode + 4));
        CHECK(at_entry.cfa == CfaKind::from_sp);
        CHECK(at_entry.cfa_offset == 8);
        CHECK(at_entry.bp == shim::BpKind::kept);
        CHECK(behind.cfa_offset == 48);
        CHECK(behind.bp == shim::BpKind::at_cfa);
        CHECK(behind.bp_offset == -16);
        for (const uint64_t elsewhere : {uint64_t{0}, kCode - 1, kCode + 32})
            CHECK(UnwindRule::unpack(table->rule_at(elsewhere)).cfa == CfaKind::no_table);
        const auto function = table->function_at(kCode + 31);
        REQUIRE(function);
        CHECK(function->start == kCode);
        CHECK(function->end == kCode + 32);
    }
    const Bytes unknown = image_of_debug_frame(5); // .debug_frame has no version 5
    CHECK_FALSE(unwind::UnwindImage::of_memory(unknown.view()));
}

TEST_CASE("a compressed .debug_frame is read if it is as large as it claims") {
    constexpr uint64_t kBytes = 73;
    const Bytes image = image_of_debug_frame(4, kBytes);
    const auto table = unwind::UnwindImage::of_memory(image.view());
    REQUIRE(table);
    CHECK(UnwindRule::unpack(table->rule_at(kCode + 4)).cfa_offset == 48);
    for (const uint64_t claimed : {kBytes - 1, kBytes + 1, uint64_t{1} << 30, UINT64_MAX})
        CHECK_FALSE(unwind::UnwindImage::of_memory(image_of_debug_frame(4, claimed).view()));
}

#endif
