#include "unwind/unwind_image.h"

#include "platform/read_file.h"
#include "platform/unwind/unwind_cfi.h" // of the shim: one reader of call-frame information for both sides
#include "platform/unwind/unwind_registers.h"

#include "unwind/frame_size.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/auxv.h>
#include <unistd.h>

namespace plumb::unwind {

namespace {

constexpr uint64_t kMostTableBytes = uint64_t{512} << 20; // far above any program's
constexpr uint64_t kMostPrologueBytes = 128;
constexpr size_t kMostRules = 1 << 18;                    // remembered for one image

// Distance from the beginning of an image in memory; nothing where its unwind table is enough, or it holds none.
std::optional<uint64_t> find_signal_return(const unsigned char* memory, uint64_t bytes) {
    if constexpr (shim::kReturnsByLink)
        for (uint64_t at = 0; memory && at + shim::kSignalReturnBytes <= bytes; at += 4)
            if (shim::is_signal_return(memory + at))
                return at;
    return std::nullopt;
}

// Where .eh_frame begins, as .eh_frame_hdr says (a 4-byte distance from its own place is what linkers write).
uint64_t frame_address(const unsigned char (&header)[8], uint64_t header_address) {
    constexpr unsigned char kPcRelativeSdata4 = 0x1b;
    if (header[1] != kPcRelativeSdata4)
        return header_address;
    int32_t distance;
    std::memcpy(&distance, header + 4, sizeof distance);
    return header_address + 4 + static_cast<uint64_t>(static_cast<int64_t>(distance));
}

} // namespace

std::unique_ptr<UnwindImage> UnwindImage::parse(int file, const unsigned char* memory, uint64_t bytes) {
    const ElfSource source(file, memory, bytes);
    ElfW(Ehdr) elf;
    if (!source.read(0, &elf, sizeof elf) || std::memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0 ||
        elf.e_ident[EI_CLASS] != (sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32) ||
        elf.e_phentsize != sizeof(ElfW(Phdr)) || elf.e_phnum == 0 || elf.e_phnum > 1024)
        return nullptr;
    std::vector<ElfW(Phdr)> headers(elf.e_phnum);
    if (!source.read(elf.e_phoff, headers.data(), headers.size() * sizeof(ElfW(Phdr))))
        return nullptr;

    auto image = std::make_unique<UnwindImage>();
    bool has_table = false;
    for (const auto& header : headers) {
        if (header.p_type == PT_LOAD)
            image->segments_.push_back({header.p_offset, header.p_vaddr, header.p_filesz});
        else if (header.p_type == PT_GNU_EH_FRAME) {
            image->header_address_ = header.p_vaddr;
            has_table = true;
        }
    }
    if (has_table && !image->read_table(source))
        return nullptr;
    for (FrameSection& section : read_frame_sections(source, !has_table))
        if (FrameIndex index(std::move(section)); !index.empty())
            image->indices_.push_back(std::move(index));
    if (const auto offset = find_signal_return(memory, bytes))
        image->signal_return_ = image->address_of(*offset);
    return has_table || !image->indices_.empty() ? std::move(image) : nullptr;
}

bool UnwindImage::read_table(const ElfSource& source) {
    const auto segment = std::find_if(segments_.begin(), segments_.end(), [&](const Segment& each) {
        return header_address_ >= each.address && header_address_ - each.address < each.bytes;
    });
    unsigned char start[8];
    if (segment == segments_.end() ||
        !source.read(segment->offset + (header_address_ - segment->address), start, sizeof start))
        return false;
    const uint64_t frames = frame_address(start, header_address_);
    const bool same_segment = frames >= segment->address && frames - segment->address < segment->bytes;
    table_address_ = same_segment ? std::min(frames, header_address_) : header_address_;
    const uint64_t skipped = table_address_ - segment->address;
    const uint64_t table_bytes = segment->bytes - skipped;
    if (table_bytes > kMostTableBytes || !source.holds(segment->offset + skipped, table_bytes)) // before room is made for it
        return false;
    table_.resize(table_bytes);
    return source.read(segment->offset + skipped, table_.data(), table_.size());
}

std::unique_ptr<UnwindImage> UnwindImage::read(const std::string& path) {
    const int file = platform::open_foreign_file(path);
    if (file < 0)
        return nullptr;
    const off_t bytes = lseek(file, 0, SEEK_END);
    auto image = parse(file, nullptr, bytes > 0 ? static_cast<uint64_t>(bytes) : 0);
    close(file);
    if (image)
        image->path_ = path;
    return image;
}

std::unique_ptr<UnwindImage> UnwindImage::of_memory(std::span<const unsigned char> image) {
    return parse(-1, image.data(), image.size());
}

std::unique_ptr<UnwindImage> UnwindImage::of_vdso() {
    const auto* memory = reinterpret_cast<const unsigned char*>(getauxval(AT_SYSINFO_EHDR));
    if (!memory)
        return nullptr;
    const auto* elf = reinterpret_cast<const ElfW(Ehdr)*>(memory);
    const auto* headers = reinterpret_cast<const ElfW(Phdr)*>(memory + elf->e_phoff);
    uint64_t bytes = 0;
    for (int i = 0; i < elf->e_phnum; ++i)
        if (headers[i].p_type == PT_LOAD)
            bytes = std::max<uint64_t>(bytes, headers[i].p_offset + headers[i].p_filesz);
    return parse(-1, memory, bytes);
}

std::optional<uint64_t> UnwindImage::address_of(uint64_t file_offset) const {
    for (const Segment& segment : segments_)
        if (file_offset >= segment.offset && file_offset - segment.offset < segment.bytes)
            return segment.address + (file_offset - segment.offset);
    return std::nullopt;
}

// Linux Standard Base 5.0, ".eh_frame_hdr": version, three encodings, .eh_frame, the number of entries, and the entries
// (where a function begins, where its frame description is), sorted, as 4-byte distances from the section's start.
std::optional<FunctionRange> UnwindImage::function_at(uint64_t address) const {
    constexpr unsigned char kUdata4 = 0x03, kDataRelativeSdata4 = 0x3b;
    constexpr uint64_t kEntries = 12, kEntry = 8;
    for (const FrameIndex& index : indices_) // they know where a function ends
        if (const auto range = index.range_at(address))
            return range;
    const uint64_t header = header_address_ - table_address_;
    if (table_.size() < header + kEntries || table_[header + 2] != kUdata4 || table_[header + 3] != kDataRelativeSdata4)
        return std::nullopt;
    uint32_t count;
    std::memcpy(&count, table_.data() + header + 8, sizeof count);
    count = static_cast<uint32_t>(std::min<uint64_t>(count, (table_.size() - header - kEntries) / kEntry));
    const auto start_of = [&](uint32_t entry) {
        int32_t distance;
        std::memcpy(&distance, table_.data() + header + kEntries + entry * kEntry, sizeof distance);
        return header_address_ + static_cast<uint64_t>(int64_t{distance});
    };
    uint32_t first = 0, behind = count; // the first entry that begins behind `address`
    while (first < behind) {
        const uint32_t middle = first + (behind - first) / 2;
        if (start_of(middle) <= address)
            first = middle + 1;
        else
            behind = middle;
    }
    if (first == 0)
        return std::nullopt;
    uint64_t end = first < count ? start_of(first) : UINT64_MAX;
    for (const Segment& segment : segments_)
        if (address >= segment.address && address - segment.address < segment.bytes)
            end = std::min(end, segment.address + segment.bytes);
    return FunctionRange{start_of(first - 1), end};
}

uint64_t UnwindImage::rule_at(uint64_t address) {
    const auto known = rules_.find(address);
    if (known != rules_.end())
        return known->second;
    shim::UnwindRule rule;
    rule.cfa = shim::CfaKind::no_table;
    if (!table_.empty()) {
        // Distances within the image are kept in the copy, so its addresses are shifted by a constant and no more.
        const unsigned char* copy = table_.data();
        const uint64_t shift = reinterpret_cast<uint64_t>(copy) - table_address_;
        rule = shim::read_unwind_rule(reinterpret_cast<const void*>(header_address_ + shift), address + shift,
                                      {copy, copy + table_.size()}, shift);
    }
    if (rule.cfa == shim::CfaKind::no_table && signal_return_ == address + 1) // `address`: right before where it returns to
        rule.cfa = shim::CfaKind::signal_frame;
    uint64_t packed = rule.pack();
    for (const FrameIndex& index : indices_)
        if (shim::UnwindRule::unpack(packed).cfa == shim::CfaKind::no_table)
            packed = index.rule_at(address);
    if (rules_.size() >= kMostRules)
        rules_.clear();
    return rules_[address] = packed;
}

std::optional<uint32_t> UnwindImage::read_frame_bytes(uint64_t start, uint64_t end) const {
    const auto segment = std::ranges::find_if(
        segments_, [&](const Segment& each) { return start >= each.address && start - each.address < each.bytes; });
    const int file = segment == segments_.end() ? -1 : platform::open_foreign_file(path_);
    if (file < 0)
        return std::nullopt;
    std::array<uint8_t, kMostPrologueBytes> code;
    const ssize_t got = pread(file, code.data(), std::min<uint64_t>(code.size(), end - start),
                              static_cast<off_t>(segment->offset + (start - segment->address)));
    close(file);
    return got > 0 ? frame_bytes({code.data(), static_cast<size_t>(got)}) : std::nullopt;
}

std::optional<uint32_t> UnwindImage::frame_bytes_at(uint64_t address) {
    if (const auto known = frame_bytes_.find(address); known != frame_bytes_.end())
        return known->second;
    const auto function = path_.empty() ? std::nullopt : function_at(address);
    const std::optional<uint32_t> bytes = function ? read_frame_bytes(function->start, address) : std::nullopt;
    if (frame_bytes_.size() >= kMostRules)
        frame_bytes_.clear();
    return frame_bytes_[address] = bytes;
}

} // namespace plumb::unwind
