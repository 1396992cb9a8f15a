#include "record/align/code/flag_scan_cache.h"

#include "platform/os/files.h"
#include "platform/os/system_call.h"
#include "platform/os/text.h"
#include "record/process/settings.h"

#include <limits.h>
#include <plumb/flag_scan_list.h>
#include <string.h>

namespace plumb::shim {
namespace {

using flag_scan::Entry;
using flag_scan::kEntriesMax; // images beyond it are looked through

Entry entries[kEntriesMax];
uint32_t count = 0;

// Ids of other sizes are rare, and their images are looked through each time.
bool make_entry(const BuildId& image, uint64_t segment, Entry* entry) {
    if (image.size != sizeof entry->build_id)
        return false;
    memcpy(entry->build_id, image.bytes, sizeof entry->build_id);
    entry->segment_page = static_cast<uint32_t>(segment >> 12);
    return true;
}

bool is_among_entries(const Entry& wanted) {
    for (uint32_t i = 0; i < count; ++i)
        if (memcmp(&entries[i], &wanted, sizeof wanted) == 0)
            return true;
    return false;
}

int open_list(int flags) {
    const char* run = settings.text(Setting::kRunDirectory);
    if (!run)
        return -1;
    Text<PATH_MAX> path;
    path << run << "/" << flag_scan::kFileName;
    return open_file(path.c_str(), flags | O_NOFOLLOW, 0600);
}

} // namespace

bool is_known_flag_free(const BuildId& image, uint64_t segment) {
    Entry wanted;
    if (!make_entry(image, segment, &wanted))
        return false;
    if (is_among_entries(wanted))
        return true;
    const int list = open_list(O_RDONLY); // others may have learned of it meanwhile
    if (list < 0)
        return false;
    const long bytes = read_file(list, entries, sizeof entries);
    close_file(list);
    count = bytes > 0 ? static_cast<uint32_t>(static_cast<size_t>(bytes) / sizeof(Entry)) : 0;
    return is_among_entries(wanted);
}

void remember_flag_free(const BuildId& image, uint64_t segment) {
    Entry entry;
    if (count >= kEntriesMax || !make_entry(image, segment, &entry))
        return;
    const int list = open_list(O_WRONLY | O_CREAT | O_APPEND);
    if (list < 0)
        return;
    // In one piece: a file that is appended to by several processes has no entry torn by another's.
    if (system_call(SYS_write, list, word(&entry), sizeof entry) == static_cast<long>(sizeof entry))
        entries[count++] = entry;
    close_file(list);
}

} // namespace plumb::shim
