#include "feed.h"
#include "target.h"

#include "platform/unwind/unwind_cfi.h" // of the shim

#include <algorithm>

namespace plumb::fuzz {

namespace {

constexpr uint32_t kHeaderBytes = 12, kRowBytes = 8;

// One function of 64 bytes at a distance of `kCode` from the header, described by a common entry and `program`.
std::string table(uint16_t pc, std::string_view augmentation, std::string_view common, std::string_view program) {
    constexpr uint32_t kCode = 0x1000;
    Food cie, fde, all;
    cie.number(uint32_t{0}).number(uint8_t{1}).bytes(augmentation).number('\0').number(uint8_t{1}).number(uint8_t{0x78})
        .number(uint8_t{16}).number(uint8_t{1}).number(uint8_t{0x1b}).bytes(common); // code 1, data -8, register 16; pcrel sdata4
    constexpr uint32_t kFrames = kHeaderBytes + kRowBytes;
    const uint32_t fde_at = kFrames + 4 + static_cast<uint32_t>(cie.taken().size());
    fde.number(uint32_t{fde_at + 4 - kFrames}).number(kCode - (fde_at + 8)).number(uint32_t{64}).number(uint8_t{0}).bytes(program);
    all.number(pc);
    all.number(uint8_t{1}).number(uint8_t{0x1b}).number(uint8_t{3}).number(uint8_t{0x3b}).number(uint32_t{kFrames - 4}).number(uint32_t{1});
    all.number(kCode).number(fde_at);
    all.number(static_cast<uint32_t>(cie.taken().size())).bytes(cie.taken());
    all.number(static_cast<uint32_t>(fde.taken().size())).bytes(fde.taken()).number(uint32_t{0});
    return all;
}

void require_whole(const shim::UnwindRule& rule) {
    const shim::UnwindRule same = shim::UnwindRule::unpack(rule.pack());
    require(rule.cfa != shim::CfaKind::none && same.cfa == rule.cfa && same.bp == rule.bp && same.cfa_offset == rule.cfa_offset &&
            same.bp_offset == rule.bp_offset);
}

} // namespace

// The distance of the code from the header, then .eh_frame_hdr and .eh_frame behind it.
void run_unwind_cfi(Bytes input) {
    Feed feed(input);
    const auto distance = feed.number<uint16_t>();
    const std::vector<uint8_t> copy(feed.rest().begin(), feed.rest().end()); // with a sanitizer, its ends are watched
    if (copy.empty())
        return;
    const shim::ReadableBytes readable{copy.data(), copy.data() + copy.size()};
    for (const uint64_t pc : {reinterpret_cast<uint64_t>(copy.data()) + distance, uint64_t{distance}})
        require_whole(shim::read_unwind_rule(copy.data(), pc, readable));
    // The same bytes as a section of entries, of either kind.
    for (const uint8_t* const debug_frame : {static_cast<const uint8_t*>(nullptr), copy.data()})
        for (size_t entry = 0; entry < std::min<size_t>(copy.size(), 64); entry += 4) {
            const shim::FrameEntries entries{readable, debug_frame, distance};
            const shim::CodeRange code = shim::read_entry_range(copy.data() + entry, entries);
            require_whole(shim::read_entry_rule(copy.data() + entry, code.begin + code.bytes / 2, entries));
        }
}

Seeds seeds_of_unwind_cfi() {
    const std::string_view begin("\x0c\x07\x08\x90\x01", 5); // def_cfa rsp+8; offset rip at cfa-8
    return {{"push", table(0x1008, "zR", begin, std::string_view("\x41\x0e\x10\x86\x02\x43\x0d\x06\x02\x10\x0c\x07\x08", 13))},
            {"plt", table(0x1010, "zR", begin, std::string_view("\x0e\x10\x46\x0f\x0b\x77\x08\x80\0\x3f\x1a\x3b\x2a\x33\x24\x22", 16))},
            {"realigned", table(0x1020, "zR", begin, std::string_view("\x45\x0c\x0a\0\x4a\x10\x06\x02\x76\0\x45\x0f\x03\x76\x78\x06", 16))},
            {"remembered", table(0x1020, "zR", begin, std::string_view("\x0a\x0e\x20\x44\x0b\x07\x10\x2e\x08\xc6\x05\x06\x02", 13))},
            {"kept", table(0x1010, "zR", begin, std::string_view("\x41\x0f\x06\x77\xc0\0\x06\x23\x08", 9))},
            {"signal", table(0x1010, "zRS", begin, "")},
            {"outermost", table(0x1010, "zR", std::string_view("\x0c\x07\x08\x07\x10", 5), "")}};
}

} // namespace plumb::fuzz
