#include "record/align/code/fatal_ranges.h"

#include "platform/os/files.h"
#include "platform/os/memory.h"
#include "platform/os/signal_action.h"
#include "platform/os/system_call.h"
#include "platform/os/text.h"
#include "record/process/settings.h"

#include <signal.h>

namespace plumb::shim {
namespace {

struct FileRange { // of the file, and where it lies now
    const char* path;
    size_t path_length;
    uint64_t first, last;
    uint64_t load_base; // kNotLoaded
};
constexpr uint64_t kNotLoaded = UINT64_MAX;
constexpr uint32_t kFatalRangesMax = 4096;
constexpr size_t kFileMax = 1024 * 1024;

FileRange* ranges = nullptr;
uint32_t range_count = 0;
bool asked_for = false, limited = false, was_read = false;

bool parse_hexadecimal(const char*& at, const char* end, uint64_t* number) {
    const char* begin = at;
    for (*number = 0; at < end; ++at) {
        const char c = *at;
        const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
        if (digit < 0)
            break;
        *number = *number << 4 | static_cast<uint64_t>(digit);
    }
    return at > begin;
}

void parse_line(const char* line, const char* end) {
    const auto* tab = static_cast<const char*>(memchr(line, '\t', static_cast<size_t>(end - line)));
    if (!tab || range_count == kFatalRangesMax)
        return;
    FileRange range = {line, static_cast<size_t>(tab - line), 0, 0, kNotLoaded};
    const char* at = tab + 1;
    if (parse_hexadecimal(at, end, &range.first) && at < end && *at++ == '-' &&
        parse_hexadecimal(at, end, &range.last) && range.last >= range.first)
        ranges[range_count++] = range;
}

void read_ranges() {
    was_read = true;
    asked_for = settings.number(Setting::kAlignFatal, 0) != 0;
    const char* path = settings.text(Setting::kAlignRanges);
    if (!asked_for || !path)
        return;
    limited = true; // also when the file cannot be read: better never than at the wrong place
    auto* text = static_cast<char*>(allocate_pages(kFileMax, false));
    ranges = static_cast<FileRange*>(allocate_pages(kFatalRangesMax * sizeof(FileRange), false));
    const long length = text && ranges ? read_whole_file(path, text, kFileMax) : -1;
    for (long at = 0; at < length;) {
        const auto* newline = static_cast<char*>(memchr(text + at, '\n', static_cast<size_t>(length - at)));
        const long end = newline ? newline - text : length;
        parse_line(text + at, text + end);
        at = end + 1;
    }
}

} // namespace

void begin_fatal_ranges() {
    if (!was_read)
        read_ranges();
    for (uint32_t i = 0; i < range_count; ++i)
        ranges[i].load_base = kNotLoaded;
}

void note_module_for_fatal_ranges(const char* path, uint64_t load_base) {
    const size_t length = range_count > 0 ? strlen(path) : 0;
    for (uint32_t i = 0; i < range_count; ++i)
        if (ranges[i].path_length == length && memcmp(ranges[i].path, path, length) == 0)
            ranges[i].load_base = load_base;
}

bool is_in_fatal_ranges(uint64_t address) {
    if (!asked_for || !limited)
        return asked_for;
    for (uint32_t i = 0; i < range_count; ++i) {
        const FileRange& range = ranges[i];
        if (range.load_base != kNotLoaded && address - range.load_base >= range.first &&
            address - range.load_base <= range.last)
            return true;
    }
    return false;
}

void prepare_fatal_end(uint64_t address) {
    Text<128> line;
    char digits[17] = {};
    for (int i = 0; i < 16; ++i)
        digits[i] = "0123456789abcdef"[address >> (60 - 4 * i) & 15];
    line << "plumb: unaligned access at 0x" << digits << ": the program ends here with SIGBUS (--fatal)\n";
    system_call(SYS_write, 2, word(line.c_str()), static_cast<long>(line.length()));
    remove_handler(SIGBUS);
    unblock_signal(SIGBUS);
}

} // namespace plumb::shim
