#include "record/calibrate/access_penalties.h"

#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <string_view>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace plumb::record {

namespace {

// `data` is a mapped file that its writer may still change: every size is copied before it is checked and used.
void look(const char* data, uint64_t bytes, CalibrationNeed& need) {
    trace::FileHeader file;
    if (bytes < sizeof file)
        return;
    std::memcpy(&file, data, sizeof file);
    if (std::memcmp(file.magic, trace::kMagic, sizeof file.magic) != 0 || file.major != trace::kMajor)
        return;
    // Behind what was handed out to chunks the file may be cut off at any time.
    if (file.header_size > bytes || file.next_chunk > bytes - file.header_size)
        return;
    bytes = file.header_size + file.next_chunk;
    for (uint64_t at = file.header_size; at < bytes && bytes - at >= sizeof(trace::ChunkHeader);) {
        trace::ChunkHeader chunk;
        std::memcpy(&chunk, data + at, sizeof chunk);
        if ((chunk.magic != trace::kChunkMagic && chunk.magic != 0) || chunk.size < sizeof chunk ||
            chunk.size > bytes - at || chunk.committed > chunk.size - sizeof chunk)
            return;
        const char* record = data + at + sizeof chunk;
        for (uint64_t left = chunk.magic ? chunk.committed : 0; left >= sizeof(trace::RecordHeader);) {
            trace::RecordHeader header;
            std::memcpy(&header, record, sizeof header);
            if (header.size < sizeof header || header.size > left)
                break;
            if (header.type == static_cast<uint16_t>(trace::RecordType::AlignSite) &&
                header.size >= sizeof(trace::AlignSite)) {
                trace::AlignSite site;
                std::memcpy(&site, record, sizeof site);
                need.unaligned = true;
                need.locked |= (site.flags & trace::kAlignLocked) != 0;
            }
            record += header.size;
            left -= header.size;
        }
        at += chunk.size;
    }
}

void look(int file, CalibrationNeed& need) {
    struct stat info {};
    if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size <= 0)
        return;
    const uint64_t bytes = static_cast<uint64_t>(info.st_size);
    void* data = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file, 0);
    if (data == MAP_FAILED)
        return;
    look(static_cast<const char*>(data), bytes, need);
    munmap(data, bytes);
}

} // namespace

CalibrationNeed calibration_need(const std::string& run_directory) {
    CalibrationNeed need;
    DIR* folder = opendir(run_directory.c_str());
    if (!folder)
        return need;
    while (const dirent* entry = readdir(folder)) {
        const std::string_view name = entry->d_name;
        if (!name.starts_with("process-") || !name.ends_with(".plumb") || (need.unaligned && need.locked))
            continue;
        const int file = openat(dirfd(folder), entry->d_name, O_RDONLY | O_CLOEXEC);
        if (file < 0)
            continue;
        look(file, need);
        close(file);
    }
    closedir(folder);
    return need;
}

} // namespace plumb::record
