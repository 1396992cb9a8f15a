// How a trace file is laid out: its header, chunks, the header of every record, and the strings and ids that records
// refer to.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace plumb::trace {

inline constexpr char kMagic[8] = {'P', 'L', 'U', 'M', 'B', 'T', 'R', '\n'};
inline constexpr uint16_t kMajor = 1;
inline constexpr uint16_t kMinor = 18;

enum class Writer : uint32_t { process = 1, recorder = 2 };

enum FileFlags : uint32_t {
    kClosed = 1u << 0, // the writer ended the file itself; without it the writer was killed or still runs
    kFull = 1u << 1,   // the size limit was reached: FileHeader::dropped_records counts what found no room
};

// Offset 0 of every file. 256 bytes; the first chunk starts at header_size.
struct FileHeader {
    char magic[8];              //   0  kMagic
    uint16_t major;             //   8
    uint16_t minor;             //  10
    uint32_t header_size;       //  12  bytes, offset of the first chunk
    uint32_t writer;            //  16  Writer
    uint32_t flags;             //  20  FileFlags, updated
    uint64_t pid;               //  24  of the writer
    uint64_t pid_start_ticks;   //  32  /proc/PID/stat field 22: with the pid the identity of a process
    uint64_t opened_ns;         //  40  CLOCK_MONOTONIC
    uint64_t opened_unix_ns;    //  48  CLOCK_REALTIME at the same moment
    uint64_t next_chunk;        //  56  bytes handed out to chunks so far, updated with atomic adds
    uint64_t dropped_records;   //  64  updated
    uint64_t own_cost_ns;       //  72  time the writer knows it took from the target, updated
    uint64_t closed_ns;         //  80  0 while kClosed is not set
    char host[64];              //  88  NUL-terminated
    uint64_t pid_namespace;     // 152 inode of the PID namespace that numbers the pids of this file, 0: not known; since 1.4
    uint64_t machine;           // 160 machine_of() in machine.h, 0: not known; since 1.4
    uint8_t reserved[88];       // 168
};
static_assert(sizeof(FileHeader) == 256 && offsetof(FileHeader, host) == 88);

inline constexpr uint32_t kChunkMagic = 0x4b4e4843; // "CHNK"

struct ChunkHeader {
    uint32_t magic;     //  0  kChunkMagic; 0: handed out, its writer died before the first record
    uint32_t size;      //  4  bytes, this header included
    uint64_t committed; //  8  bytes of records behind this header that a reader may take
    uint32_t tid;       // 16  the thread that writes it, 0: shared under a lock
    uint32_t reserved;  // 20
};
static_assert(sizeof(ChunkHeader) == 24);

struct RecordHeader {
    uint16_t type; // RecordType
    uint16_t size; // bytes, this header included, a multiple of 8
    uint32_t tid;  // the thread it is about, 0: the process or the node
};
static_assert(sizeof(RecordHeader) == 8);

using StringId = uint32_t;
using NodeId = uint32_t;
using Address = uint64_t;
using Opaque = uint64_t; // means nothing but itself: a handle, a hash

// Followed by `length` bytes, no NUL, padded with zeros to a multiple of 8. Longer texts are cut at 65,000 bytes.
struct String {
    RecordHeader header;
    uint32_t id;     //  8  by which StringIds refer to it
    uint32_t length; // 12  bytes
};
static_assert(sizeof(String) == 16);

} // namespace plumb::trace
