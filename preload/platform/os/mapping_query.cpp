#include "platform/os/mapping_query.h"

#include "platform/os/system_call.h"

#include <linux/ioctl.h>

namespace plumb::shim {
namespace {

// As in <linux/fs.h> of Linux 6.11, which Debian 12 does not have.
struct MappingQuery {
    uint64_t size;
    uint64_t query_flags, query_address;
    uint64_t start, end, flags, page_bytes, file_offset;
    uint64_t inode;
    uint32_t device_major, device_minor;
    uint32_t name_bytes, build_id_bytes; // in: room; out: length, of the name with its 0
    uint64_t name, build_id;
};
static_assert(sizeof(MappingQuery) == 104);
constexpr uint64_t kWritable = 2, kExecutable = 4, kShared = 8;
constexpr unsigned long kQuery = _IOWR('f', 17, MappingQuery);

} // namespace

int query_mapping(int descriptor, uint64_t address, char* buffer, size_t bytes, Mapping* mapping) {
    MappingQuery query = {};
    query.size = sizeof query;
    query.query_address = address;
    query.name = reinterpret_cast<uint64_t>(buffer);
    query.name_bytes = static_cast<uint32_t>(bytes);
    const long result = system_call(SYS_ioctl, descriptor, static_cast<long>(kQuery), reinterpret_cast<long>(&query));
    if (result < 0)
        return static_cast<int>(result);
    mapping->start = query.start;
    mapping->end = query.end;
    mapping->file_offset = query.file_offset;
    mapping->device = uint64_t{query.device_major} << 32 | query.device_minor;
    mapping->inode = query.inode;
    mapping->executable = query.flags & kExecutable;
    mapping->writable = query.flags & kWritable;
    mapping->shared = query.flags & kShared;
    set_path(mapping, buffer, query.name_bytes > 0 ? query.name_bytes - 1 : 0);
    return 0;
}

} // namespace plumb::shim
