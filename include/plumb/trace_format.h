// The contract between those who record (the shim, the recorder) and those who read (the analyzer).
//
// A run directory holds run.json and any number of trace files: one per watched process, written by the shim
// inside it (process-PID-START_TICKS.plumb; the N-th later image of the same process, after exec, writes
// process-PID-START_TICKS.N.plumb), and one per node, written by the recorder beside it. All have the same shape:
//
//     FileHeader | chunk | chunk | ...        chunk: ChunkHeader | record | record | ...
//
// What must hold:
//  - Native little endian; every record is a multiple of 8 bytes and starts at a multiple of 8.
//  - The file is mapped MAP_SHARED and written in place. A record is stored whole, then ChunkHeader::committed
//    is release-stored past it. A reader takes what is committed and nothing else, so a writer may be killed
//    at any instruction and everything before stays readable.
//  - A chunk has one writer at a time. Records marked "updated" in the list below are counters: their writer
//    goes on changing them after they were committed, field by field, with relaxed atomic 8-byte stores.
//  - Times are nanoseconds of CLOCK_MONOTONIC of the host unless a name says otherwise. Addresses are raw
//    addresses of the process they were seen in; modules map them to files.
//  - The format is append-only. A new field goes to the end of its record (readers use RecordHeader::size and
//    treat what is not there as zero), a new record gets the next free number: kMinor grows. Anything else
//    makes kMajor grow. Readers skip records they do not know.
//  - Ids (strings, call-path nodes, modules) start at 1, 0 means none, and are private to one file.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace plumb::trace {

inline constexpr char kMagic[8] = {'P', 'L', 'U', 'M', 'B', 'T', 'R', '\n'};
inline constexpr uint16_t kMajor = 1;
inline constexpr uint16_t kMinor = 5;

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

// X(number, name, "what it is"). The list is the catalogue: reader, dump and documentation expand it.
#define PLUMB_TRACE_RECORDS(X)                                                                               \
    X(1, String, "text that later records name by id")                                                       \
    X(2, ProcessStart, "a watched process image begins (start or exec)")                                     \
    X(3, ProcessEnd, "a process image ends, as seen by its writer")                                          \
    X(4, ThreadStart, "a thread begins")                                                                     \
    X(5, ThreadEnd, "a thread ends")                                                                         \
    X(6, ThreadName, "a thread is given a name")                                                             \
    X(7, ModuleLoad, "an executable mapping appears")                                                        \
    X(8, ModuleUnload, "an executable mapping goes away")                                                    \
    X(9, PathNode, "one node of the call-path tree")                                                         \
    X(10, HeapTotals, "updated: exact allocation totals of one thread")                                      \
    X(11, HeapSite, "updated: allocations of one call path by one thread")                                   \
    X(12, LargeMap, "updated: a large block: mapped, allocated, or the break grew")                          \
    X(13, LargeUnmap, "until 1.2: a large block was unmapped")                                               \
    X(14, Evidence, "a source of evidence: works, limited or missing, and why")                              \
    X(15, Placement, "a thread was given CPUs by plumb")                                                     \
    X(16, Region, "a region named through the public API")                                                   \
    X(17, AlignSite, "1.1: an instruction that made an unaligned access")                                    \
    X(18, AlignCount, "1.1, updated: unaligned accesses of one instruction by one thread")                   \
    X(19, AlignAddress, "1.1: one such access: its address, and the block it lies in")                       \
    X(20, AlignTotals, "1.1, updated: what the alignment trap saw in one thread, and what it left out")      \
    X(21, AlignCode, "1.1: code of the shim that stands for an instruction of the program")                  \
    X(22, MpiRank, "1.2, updated: this process as a rank of an MPI job")                                     \
    X(23, MpiComm, "1.2: a communicator, as one of its members knows it")                                    \
    X(24, MpiSite, "1.2, updated: calls of one MPI function from one call path on one communicator")         \
    X(25, MpiPeer, "1.2, updated: what went to, or came from, one other rank")                               \
    X(26, MpiCollective, "1.2, updated: one collective operation, as one of its members saw it")             \
    X(27, MpiMessage, "1.2, updated: one end of one message")                                                \
    X(28, MpiEvent, "1.3, updated: one call of the timeline, in a ring")                                      \
    X(30, MpiRequest, "1.3, updated: an operation under way that a request stands for")                      \
    X(31, MpiInside, "1.3, updated: the MPI call that a thread is inside of")                                \
    X(32, ProcessSeen, "recorder: a process of the run, seen from outside")                                  \
    X(33, ProcessGone, "recorder: it ended")                                                                 \
    X(34, SampleSite, "updated: time samples of one thread at one call path")                                \
    X(35, ThreadSchedule, "updated: a thread's scheduling facts so far")                                     \
    X(36, ThreadInterval, "recorder: what one thread did in one interval")                                   \
    X(37, CpuInterval, "recorder: what one CPU did in one interval")                                         \
    X(38, NodeMemory, "recorder: memory of one NUMA node")                                                   \
    X(39, OtherProcess, "updated: CPU time of a process outside the run")                                    \
    X(40, InterruptSource, "updated: interrupts of one source on one CPU")                                   \
    X(41, RecorderCost, "updated: what recording cost")                                                      \
    X(42, Topology, "recorder: hwloc XML of the node, as a string")                                          \
    X(43, AccessSite, "1.1, updated: sampled memory accesses of one instruction")                            \
    X(44, AccessPenalty, "1.1: what unaligned accesses cost on this machine, measured")                      \
    X(45, EventCount, "1.1: a software event of the kernel counted over one process tree")                   \
    X(46, NumaNode, "1.3, recorder: a NUMA node of the host")                                                \
    X(47, MemoryArea, "1.3, updated: a mapping that sampled accesses fell into")                             \
    X(48, MemoryTraffic, "1.3, updated: sampled accesses of one instruction and thread between two nodes")   \
    X(49, MemoryEpoch, "1.3: sampled accesses of one thread between two nodes in one interval")              \
    X(50, FirstTouch, "1.3, updated: sampled page faults of one code path and thread in one area")           \
    X(51, PageScatter, "1.3: accesses of one instruction that scatter over the pages of one mapping")        \
    X(52, ProcessMemory, "1.3, updated: how much memory a process needs, and by which policy it gets it")    \
    X(53, AccessStride, "1.3: a strided walk of one instruction that crowds into few sets of a cache")       \
    X(54, HugePages, "1.3, recorder: what the kernel is told about huge pages")                              \
    X(55, SharedLine, "1.3: a cache line that several threads use at the same time, one of them to write")   \
    X(56, LineUse, "1.3: what one instruction of one thread does to such a line")                            \
    X(57, LineTransfer, "1.3, recorder: what accesses to a line cost while another CPU uses it, measured")   \
    X(58, MemoryStream, "1.3: an access of a loop that streams through more memory than the caches hold")    \
    X(59, TrafficBurst, "1.3: what the threads in such a loop moved while they were looked at closely")      \
    X(60, BandwidthRoof, "1.3, recorder: what so many threads move through memory here, measured")           \
    X(61, BlockedSite, "1.4, updated: where one thread was off its CPU, waiting in one call")                \
    X(62, LockHolder, "1.4, updated: what the holder of a lock did while a thread waited for it")            \
    X(63, ThreadWall, "1.5, updated: how long the run's wall time depended on one thread that ran")

enum class RecordType : uint16_t {
#define PLUMB_X(number, name, what) name = number,
    PLUMB_TRACE_RECORDS(PLUMB_X)
#undef PLUMB_X
};

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

struct ProcessStart {
    RecordHeader header;
    uint32_t pid;             //  8
    uint32_t parent_pid;      // 12
    uint64_t time_ns;         // 16
    StringId executable;      // 24  path as /proc/PID/exe names it
    StringId command_line;    // 28  arguments separated by NUL
    StringId working_directory; // 32
    int32_t rank;             // 36  from the launcher's environment, -1: none
    int32_t rank_count;       // 40  -1: none
    int32_t local_rank;       // 44  -1: none
    StringId launcher;        // 48  "openmpi", "hydra", "slurm", "pmix"
    uint32_t flags;           // 52  ProcessStartFlags
};
static_assert(sizeof(ProcessStart) == 56);
enum ProcessStartFlags : uint32_t {
    kStartForked = 1u << 0, // this image began by fork without exec
};

// none: an exec that was recorded as the end and then failed: the record does not count.
enum class EndKind : uint32_t { none = 0, exit = 1, quick_exit = 2, exec = 3, abort = 4 };

struct ProcessEnd {
    RecordHeader header;
    uint64_t time_ns; //  8
    uint32_t kind;    // 16  EndKind
    int32_t status;   // 20  exit status, 0 for exec
};
static_assert(sizeof(ProcessEnd) == 24);

struct ThreadStart {
    RecordHeader header;     //     header.tid is the new thread
    uint64_t time_ns;        //  8
    Address start_routine;   // 16  address, 0: the first thread
    uint32_t creator_tid;    // 24
    NodeId creation_path;    // 28
};
static_assert(sizeof(ThreadStart) == 32);

struct ThreadEnd {
    RecordHeader header;
    uint64_t time_ns;     //  8
    uint64_t cpu_time_ns; // 16  CLOCK_THREAD_CPUTIME_ID
};
static_assert(sizeof(ThreadEnd) == 24);

struct ThreadName {
    RecordHeader header;
    StringId name;    //  8
    uint32_t padding; // 12
};
static_assert(sizeof(ThreadName) == 16);

enum ModuleFlags : uint32_t {
    kModuleMain = 1u << 0,      // the program itself
    kModuleDeleted = 1u << 1,   // its file was deleted or replaced
    kModuleAnonymous = 1u << 2, // no file: code made at run time
    kModuleVdso = 1u << 3,
    kModuleKernel = 1u << 4,
};

// One executable mapping of one process (a library may have several).
struct ModuleLoad {
    RecordHeader header;     //     header.tid 0
    uint32_t id;             //  8
    uint32_t pid;            // 12
    uint64_t time_ns;        // 16  when it appeared
    Address start;           // 24
    Address end;             // 32  first address behind it
    uint64_t file_offset;    // 40  of `start`
    uint64_t device;         // 48  major << 32 | minor
    uint64_t inode;          // 56
    uint8_t build_id[20];    // 64
    uint8_t build_id_size;   // 84  bytes, 0: none known
    uint8_t padding[3];      // 85
    StringId path;           // 88
    uint32_t flags;          // 92  ModuleFlags
};
static_assert(sizeof(ModuleLoad) == 96);

struct ModuleUnload {
    RecordHeader header;
    uint32_t id;      //  8  ModuleLoad::id
    uint32_t pid;     // 12
    uint64_t time_ns; // 16
};
static_assert(sizeof(ModuleUnload) == 24);

// The call-path tree: `address` was reached from `parent`. For a leaf of a sample it is the instruction itself,
// for every other node the return address (a reader looks up address - 1).
struct PathNode {
    RecordHeader header;
    NodeId id;        //  8
    NodeId parent;    // 12  0: outermost frame
    Address address;  // 16
    uint32_t pid;     // 24  whose address space; 0: the file's own process
    uint32_t flags;   // 28  PathNodeFlags
};
static_assert(sizeof(PathNode) == 32);
enum PathNodeFlags : uint32_t {
    kPathLeaf = 1u << 0,      // a sampled instruction, not a return address
    kPathKernel = 1u << 1,    // a kernel address
    kPathTruncated = 1u << 2, // there were frames further out
};

struct HeapTotals {
    RecordHeader header;       //     header.tid: the thread
    uint64_t allocations;      //  8  malloc and its kin, realloc of NULL included; those that succeeded
    uint64_t allocated_bytes;  // 16  as requested, by reallocations too
    uint64_t frees;            // 24  free of non-NULL, realloc to 0 included
    uint64_t reallocations;    // 32  realloc of a live block to another size: both a free and an allocation of a site
    uint64_t zero_sized;       // 40
    uint64_t failed;           // 48  returned NULL
    uint64_t max_request_bytes; // 56
    uint64_t size_histogram[32]; // 64  [i]: requests of 2^i <= bytes < 2^(i+1), [0] also 0; full mode only
};
static_assert(sizeof(HeapTotals) == 320);

enum class HeapSiteMode : uint32_t { sampled = 0, every_event = 1 };

// Sample mode: estimates (each sampled allocation stands for weight = its inverse probability). Full mode: exact.
// A path has one record for each thread that allocated there or freed what was allocated there; they are to be
// added, modulo 2^64 (a thread that only frees has frees without allocations, and a negative peak_live_bytes).
// Peak: `peak_epoch` numbers the moments at which the whole heap reached a new maximum (1 % above the former one).
// Let E be the largest peak_epoch of all sites of the process. A site with peak_epoch E had peak_live_bytes at that
// moment; a site with an older one has not changed since, so that it had allocated_bytes - freed_bytes.
struct HeapSite {
    RecordHeader header;        //     header.tid: the thread
    NodeId path;                //  8
    uint32_t mode;              // 12  HeapSiteMode
    uint64_t allocations;       // 16
    uint64_t allocated_bytes;   // 24
    uint64_t frees;             // 32  of blocks this path allocated, whoever freed them
    uint64_t freed_bytes;       // 40
    uint64_t temporary;         // 48  freed by the same thread before its next allocation; full mode only
    uint64_t peak_live_bytes;   // 56  live bytes when the whole heap was largest (within 1 %), see above
    uint64_t samples;           // 64  allocations actually seen
    uint64_t lock_wait_ns;      // 72  time blocked inside the allocator in the calls that were timed: a lower bound
    uint64_t first_ns;          // 80
    uint64_t last_ns;           // 88  full mode: to within 64 events of the thread
    uint64_t peak_epoch;        // 96  see above
};
static_assert(sizeof(HeapSite) == 104);

enum class LargeMapKind : uint32_t {
    mmap = 1,
    mremap = 2,
    program_break = 3, // it grew: brk, sbrk
    allocator = 4,     // malloc and its kin, above the large limit
};

// The places of blocks that ended may be used again for later ones. Until 1.2 the end has a record of its own.
struct LargeMap {
    RecordHeader header;
    uint64_t time_ns; //  8
    Address address;  // 16
    uint64_t bytes;   // 24  0: being written
    NodeId path;      // 32
    uint32_t kind;    // 36  LargeMapKind
    uint64_t until_ns; // 40  0: it was not seen to end
};
static_assert(sizeof(LargeMap) == 48);

struct LargeUnmap {
    RecordHeader header;
    uint64_t time_ns; //  8
    Address address;  // 16
    uint64_t bytes;   // 24
};
static_assert(sizeof(LargeUnmap) == 32);

enum class EvidenceState : uint32_t { ok = 1, limited = 2, missing = 3 };

struct Evidence {
    RecordHeader header;
    StringId source; //  8  "perf-sampling", "timer-sampling", "heap", "threads", ...
    uint32_t state;  // 12  EvidenceState
    StringId why;    // 16
    StringId enable; // 20  what would enable it
    uint32_t pid;    // 24  0: the whole run
    uint32_t padding;
};
static_assert(sizeof(Evidence) == 32);

struct Placement {
    RecordHeader header;  //     header.tid: the thread
    uint64_t time_ns;     //  8
    uint32_t slot;        // 16  running number in the group
    int32_t cpu;          // 20  operating-system CPU number, -1: refused
    int32_t memory_node;  // 24  bound memory to it, -1: not bound
    int32_t error;        // 28  errno of the refusal
};
static_assert(sizeof(Placement) == 32);

struct Region {
    RecordHeader header;
    uint64_t time_ns; //  8
    StringId name;    // 16
    uint32_t begin;   // 20  1: begins, 0: ends
};
static_assert(sizeof(Region) == 24);

enum AlignFlags : uint32_t {
    kAlignLoad = 1u << 0,
    kAlignStore = 1u << 1,
    kAlignLocked = 1u << 2,  // LOCK prefix, or xchg with memory
    kAlignString = 1u << 3,  // rep movs and its kin: one hit is one execution, however many elements
    kAlignStack = 1u << 4,   // push, pop, call, ret: the stack pointer itself was unaligned
    kAlignPacked = 1u << 5,  // a vector access; these do not trap, they are found by address sampling
};

// Every instruction that was caught, once; header.tid is the thread it was first caught in.
struct AlignSite {
    RecordHeader header;
    uint32_t id;               //  8  from 1
    uint32_t flags;            // 12  AlignFlags
    Address address;           // 16  of the instruction
    uint64_t time_ns;          // 24  first hit
    uint16_t width;            // 32  bytes of one access
    uint16_t instruction_bytes; // 34
    NodeId path;               // 36  who called the function, at the first hit; 0: not known
    uint8_t code[16];          // 40  the instruction itself, zeros behind it
};
static_assert(sizeof(AlignSite) == 56);

// Counts of one instruction in one thread; a thread that has several records for a site adds them. An access of
// `width` bytes at `address` crosses a 64-byte line when address % 64 + width > 64: `residues` says how many did.
struct AlignCount {
    RecordHeader header;      //     header.tid: the thread
    uint32_t site;            //  8  AlignSite::id
    uint32_t exact;           // 12  1: every hit was counted; 0: a lower bound
    uint64_t hits;            // 16  the sum of `residues`, unless the address could not be told
    uint64_t page_crossings;  // 24  4096-byte pages
    Address lowest_address;   // 32
    Address highest_address;  // 40
    uint64_t last_ns;         // 48  of the last hit that went through the trap
    uint64_t residues[64];    // 56  [address % 64]
};
static_assert(sizeof(AlignCount) == 568);

enum class BlockKind : uint32_t { unknown = 0, heap = 1, stack = 2, mapping = 3 };

struct AlignAddress {
    RecordHeader header;   //     header.tid: the thread
    uint32_t site;         //  8  AlignSite::id
    uint32_t block_kind;   // 12  BlockKind; statics are `unknown` here: the modules tell them
    Address address;       // 16
    uint64_t time_ns;      // 24
    Address block_start;   // 32  of the heap block or mapping it lies in, 0: not known
    uint64_t block_bytes;  // 40  as requested
    NodeId block_path;     // 48  who allocated it, 0: not known
    uint32_t padding;      // 52
    Address base_value;    // 56  of the base register of the operand
    Address stack_pointer;  // 64
    Address frame_address;  // 72  canonical frame address of the function, 0: not known
};
static_assert(sizeof(AlignAddress) == 80);

enum class AlignMode : uint32_t { find = 1, exact = 2 };

struct AlignTotals {
    RecordHeader header;     //     header.tid: the thread
    uint32_t mode;           //  8  AlignMode
    uint32_t padding;        // 12
    uint64_t hits;           // 16  counted, of all sites
    uint64_t excluded_hits;  // 24  in excluded code, or of packed accesses: stepped over, not counted
    uint64_t windows;        // 32  find mode: how often the thread was armed
    uint64_t armed_ns;       // 40  find mode: for how long, an upper bound
    uint64_t stepped;        // 48  hits that took a single step
    uint64_t slots;          // 56  hits that took a slot
    uint64_t rewritten;      // 64  hits that took no signal at all
    uint64_t trap_ns;        // 72  estimated time the thread spent in traps
    uint64_t lost_hits;      // 80  seen, but no room to count them
};
static_assert(sizeof(AlignTotals) == 88);

// Time samples in [start, end) belong to the instruction at `address`.
struct AlignCode {
    RecordHeader header;
    Address start;    //  8
    Address end;      // 16
    Address address;  // 24
};
static_assert(sizeof(AlignCode) == 32);

// MPI. Times of these records are ticks of the processor's constant time stamp counter (of CLOCK_MONOTONIC in
// nanoseconds where there is none): MpiRank tells how they relate to CLOCK_MONOTONIC. Ranks are those of
// MPI_COMM_WORLD ("world ranks") unless a name says otherwise.

enum class MpiLibrary : uint32_t { unknown = 0, open_mpi = 1, mpich = 2, standard_abi = 3 };

enum class MpiThreadLevel : int32_t { single = 0, funneled = 1, serialized = 2, multiple = 3 };

struct MpiRank {
    RecordHeader header;        //     header.tid: the thread that initialised MPI
    uint32_t library;           //  8  MpiLibrary
    int32_t rank;               // 12  -1: not yet known (MPI_Init did not return)
    int32_t size;               // 16
    int32_t thread_level;       // 20  MpiThreadLevel, as provided
    StringId library_version;   // 24
    StringId job;               // 28  what the launcher calls this job, 0: no launcher
    uint32_t flags;             // 32  MpiRankFlags
    uint32_t dropped_sites;     // 36  updated: sites, peers or communicators that found no room
    uint64_t first_ticks;       // 40  two moments, as far apart as possible,
    uint64_t first_ns;          // 48
    uint64_t last_ticks;        // 56  updated
    uint64_t last_ns;           // 64  updated
    uint64_t init_begin_ns;     // 72
    uint64_t init_end_ns;       // 80
    uint64_t finalize_begin_ns; // 88  updated, 0: MPI_Finalize was not called
    uint64_t finalize_end_ns;   // 96  updated
    uint64_t mpi_ticks;         // 104 updated: time inside MPI of all threads
    uint64_t collectives;       // 112 updated: how many there were; MpiCollective keeps those with
    uint64_t collective_stride; // 120 updated: sequence % collective_stride == 0, a power of two that grows
    uint64_t messages;          // 128 updated: how many ends of messages there were; MpiMessage keeps those with
    uint64_t message_stride;    // 136 updated: sequence % message_stride == 0
    uint64_t unmatched;         // 144 updated: completed operations whose request was not known, and messages not counted
    uint64_t timeline_calls;    // 152 updated: how many calls were put into the ring of MpiEvents so far; since 1.3
};
static_assert(sizeof(MpiRank) == 160);
enum MpiRankFlags : uint32_t {
    kMpiSpawned = 1u << 0, // has a parent communicator
    kMpiSession = 1u << 1, // initialised by MPI_Session_init
    kMpiAborted = 1u << 2, // called MPI_Abort
    kMpiSilenced = 1u << 3, // MPI_Pcontrol(0) was called: some calls were not recorded
};

// The same communicator has the same (group_hash, ordinal) in all its members: the hash of the world ranks of its
// members in their order, and how many communicators of this group the member had made before it.
struct MpiComm {
    RecordHeader header;
    uint32_t id;          //  8  from 1, private to the file
    uint32_t flags;       // 12  MpiCommFlags
    Opaque group_hash;    // 16
    uint32_t ordinal;     // 24
    int32_t rank;         // 28  the writer's rank in it
    uint32_t size;        // 32
    uint32_t remote_size; // 36  of an inter-communicator, else 0
    uint32_t parent;      // 40  id of the communicator that it was made from, 0: not known
    StringId name;        // 44  as the program named it, else 0
    NodeId path;          // 48  who made it; 0: MPI itself
    int32_t first;        // 52  world rank of its rank 0
    uint64_t time_ticks;  // 56
    Opaque handle;        // 64  what MpiInside::comm calls it; since 1.3
};
static_assert(sizeof(MpiComm) == 72);
enum MpiCommFlags : uint32_t {
    kMpiCommWorld = 1u << 0,
    kMpiCommSelf = 1u << 1,
    kMpiCommInter = 1u << 2,
    kMpiCommWindow = 1u << 3, // no communicator of the program: the one that a window, or a file, was made on, once more
    kMpiCommFile = 1u << 4,
};

// What a function does; one function may do several of these.
enum MpiKind : uint32_t {
    kMpiSend = 1u << 0,        // starts or does the sending of a message
    kMpiReceive = 1u << 1,     // starts or does the receiving of one
    kMpiCollectiveCall = 1u << 2,
    kMpiNonblocking = 1u << 3, // returns before it is complete
    kMpiWait = 1u << 4,        // completes requests, waiting for them
    kMpiPoll = 1u << 5,        // Test, Iprobe and their kin: returns at once, may have found nothing
    kMpiOneSided = 1u << 6,    // RMA: access and synchronisation
    kMpiFile = 1u << 7,        // MPI-IO
    kMpiSetUp = 1u << 8,       // Init, Finalize, communicators, windows, files: opening and closing
    kMpiPersistent = 1u << 9,
    kMpiProbe = 1u << 10,
    kMpiSynchronising = 1u << 11, // no member can leave before all have entered (barrier, allreduce, alltoall, ...)
    kMpiFromRoot = 1u << 12,   // rooted: data flow from the root (bcast, scatter)
    kMpiToRoot = 1u << 13,     // to the root (reduce, gather)
    kMpiNeighbour = 1u << 14,
    kMpiPrefix = 1u << 15,     // scan, exscan
    kMpiMayPass = 1u << 16,    // synchronising, unless the library finds that nobody has to be waited for (fence, MPI-IO)
};

struct MpiSite {
    RecordHeader header;          //     header.tid: the thread
    uint32_t id;                  //  8  from 1, private to the file
    uint32_t kind;                // 12  MpiKind
    StringId call;                // 16  MPI_Allreduce, ..., whatever the language
    NodeId path;                  // 20  of the caller
    uint32_t comm;                // 24  MpiComm::id, 0: none or not known
    uint32_t padding;             // 28
    uint64_t calls;               // 32
    uint64_t timed_calls;         // 40  polls that found nothing are timed now and then only
    uint64_t ticks;               // 48  time inside, of all calls (scaled up from the timed ones), and between polls that waited
    uint64_t longest_ticks;       // 56
    uint64_t sent_bytes;          // 64
    uint64_t received_bytes;      // 72  as they arrived, by the site that started the receive
    uint64_t failed;              // 80  calls that returned an error
    uint64_t found_nothing;       // 88  polls
    uint64_t first_ticks;         // 96
    uint64_t last_ticks;          // 104 end of the last call
    uint64_t size_histogram[32];  // 112 messages by bytes: [0] none, [i] 2^(i-1) <= bytes < 2^i, [31] also larger
};
static_assert(sizeof(MpiSite) == 368);

enum class MpiDirection : uint32_t { sent = 1, received = 2, put = 3, got = 4 };

struct MpiPeer {
    RecordHeader header;
    int32_t peer;                //  8  world rank; -1: all that found no room, or are not known
    uint32_t direction;          // 12  MpiDirection
    uint64_t messages;           // 16
    uint64_t bytes;              // 24
    uint64_t size_histogram[32]; // 32  as in MpiSite
};
static_assert(sizeof(MpiPeer) == 288);

// The n-th collective operation that its members began on a communicator, n = sequence; the sequence is the same in all.
// A record whose site is 0 is free: its operation was given up to make room (MpiRank::collective_stride).
struct MpiCollective {
    RecordHeader header;
    uint32_t comm;             //  8
    uint32_t site;             // 12  MpiSite::id, written last with release; 0: free
    uint64_t sequence;         // 16  on this communicator, from 0
    uint64_t begin_ticks;      // 24  the call that began it
    uint64_t wait_ticks;       // 32  waiting for its end began: that call, or the polls just before it; blocking: begin_ticks
    uint64_t end_ticks;        // 40  it was complete
    uint64_t gap_ticks;        // 48  since this thread's last collective on any communicator was complete (since MPI_Init)
    uint64_t gap_mpi_ticks;    // 56  of them inside other MPI calls
    uint32_t root;             // 64  comm rank, UINT32_MAX: none
    uint32_t padding;          // 68
    uint64_t bytes;            // 72  this rank's contribution
};
static_assert(sizeof(MpiCollective) == 80);

// The n-th message from one rank to another on a communicator with a tag, n = sequence: both ends count alike, because
// MPI keeps such messages in order. (A receive from any source or with any tag is counted when it is complete.)
// Counting starts at a number that both ends derive from the communicator, the ranks and the tag, so that thinning
// (MpiRank::message_stride) takes its share of channels that carry a single message, too.
struct MpiMessage {
    RecordHeader header;
    uint32_t comm;        //  8
    uint32_t site;        // 12  MpiSite::id of the call that began it, written last with release; 0: free
    int32_t peer;         // 16  world rank of the other end
    int32_t tag;          // 20
    uint32_t flags;       // 24  MpiMessageFlags
    uint32_t wait_site;   // 28  of the call in which it was waited for: that completed it, or probed for it before
    uint64_t sequence;    // 32  see above
    uint64_t begin_ticks; // 40  the call that began it; of a blocking receive, or the probes and polls just before it
    uint64_t wait_ticks;  // 48  waiting for its end began: that call, or the polls just before it; blocking: begin_ticks
    uint64_t end_ticks;   // 56  that call returned
    uint64_t bytes;       // 64
};
static_assert(sizeof(MpiMessage) == 72);
enum MpiMessageFlags : uint32_t {
    kMpiMessageSent = 1u << 0, // else received
    kMpiMessageSynchronous = 1u << 1, // Ssend and its kin: complete only when the receive has begun
    kMpiMessageWildcard = 1u << 2, // received from any source or with any tag
};

// What a request stands for from the call that began it to the one that completed it; so many as have room are shown.
// Ranks are those of the communicator (of its remote group, if it has one), negative: any source.
struct MpiRequest {
    RecordHeader header;
    uint32_t site;        //  8  MpiSite::id of the call that began it, written last with release; 0: free
    uint32_t flags;       // 12  MpiMessageFlags; of a collective kMpiRequestCollective
    int32_t peer;         // 16  of a collective: its root, -1: none
    int32_t tag;          // 20  negative: any
    uint32_t comm;        // 24  MpiComm::id, 0: not known
    uint32_t tid;         // 28  the thread that began it
    Opaque handle;        // 32  not unique: requests that are complete at once share one
    uint64_t sequence;    // 40  of a collective: as in MpiCollective
};
static_assert(sizeof(MpiRequest) == 48);
inline constexpr uint32_t kMpiRequestCollective = 1u << 31;

// The latest calls of a process that keeps a timeline: places of a ring, in any order. Of calls that only look whether
// something has come, those are here that found it.
struct MpiEvent {
    RecordHeader header;  //     header.tid: the thread, updated
    uint64_t begin_ticks; //  8
    uint64_t end_ticks;   // 16
    uint32_t site;        // 24  MpiSite::id; written last; 0: the place is free
    int32_t peer;         // 28  world rank that was sent to or received from, or the root; -1: none or not known
    uint64_t bytes;       // 32  of that message, or what this rank gave to the collective
};
static_assert(sizeof(MpiEvent) == 40);

// One for each thread that calls MPI. Of the fields behind begin_ticks those mean something that the function's kind has:
// others are left from earlier calls. Ranks as in MpiRequest.
struct MpiInside {
    RecordHeader header;     //     header.tid: the thread, updated
    uint64_t begin_ticks;    //  8  written last; 0: it is not inside
    StringId call;           // 16
    uint32_t kind;           // 20  MpiKind
    Address return_address;  // 24  where in the program it was called
    Opaque comm;             // 32  MpiComm::handle, 0: none
    int32_t source;          // 40  kMpiReceive, kMpiProbe: from whom
    int32_t source_tag;      // 44
    int32_t target;          // 48  kMpiSend: to whom; kMpiCollectiveCall: the root, -1: none
    int32_t target_tag;      // 52
    NodeId path;             // 56  by whom, if this is where the path's innermost frame is; else the site has it
    uint32_t requests;       // 60  kMpiWait: how many it was given
    Opaque request;          // 64  kMpiWait: MpiRequest::handle of the first
};
static_assert(sizeof(MpiInside) == 72);

struct ProcessSeen {
    RecordHeader header;
    uint32_t pid;          //  8
    uint32_t parent_pid;   // 12
    uint64_t time_ns;      // 16  of fork, or of exec for a later image of the same pid
    StringId executable;   // 24  0: not yet known (fork)
    StringId command_line; // 28  arguments separated by NUL, 0: not recorded
    StringId name;         // 32  comm
    uint32_t flags;        // 36  ProcessSeenFlags
    uint64_t pid_namespace; // 40  its own one, if that is below the writer's and was read in time, else 0; since 1.4
    uint32_t inner_pid;    // 48  its pid there; in the shim's file it has that one
    uint32_t padding;      // 52
};
static_assert(sizeof(ProcessSeen) == 56);
enum ProcessSeenFlags : uint32_t {
    kSeenExec = 1u << 0,       // this record is about an exec
    kSeenStatic = 1u << 1,     // statically linked: the shim cannot be inside
    kSeenForeign = 1u << 2,    // another architecture or word size
    kSeenPrivileged = 1u << 3, // setuid, setgid or file capabilities: the loader ignores preloads
    kSeenDormant = 1u << 4,    // a shell or launcher, or excluded: only its children matter
};

struct ProcessGone {
    RecordHeader header;
    uint32_t pid;      //  8
    int32_t status;    // 12  wait status where known (children of the recorder), else -1
    uint64_t time_ns;  // 16
    uint64_t user_ns;  // 24  CPU time where known, else 0
    uint64_t system_ns; // 32
    uint64_t max_rss_bytes; // 40
};
static_assert(sizeof(ProcessGone) == 48);

struct SampleSite {
    RecordHeader header; //     header.tid: the thread
    uint32_t pid;        //  8
    NodeId path;         // 12  its leaf
    uint64_t samples;    // 16
    uint64_t time_ns;    // 24  what they stand for
    uint64_t kernel;     // 32  how many of them were taken in the kernel
    uint64_t first_ns;   // 40
    uint64_t last_ns;    // 48
};
static_assert(sizeof(SampleSite) == 56);

struct ThreadSchedule {
    RecordHeader header;          //     header.tid: the thread
    uint32_t pid;                 //  8
    StringId name;                // 12  comm
    uint64_t first_ns;            // 16  first seen
    uint64_t last_ns;             // 24  last read
    uint64_t run_ns;              // 32  on a CPU (schedstat)
    uint64_t run_delay_ns;        // 40  runnable but waiting for a CPU (schedstat)
    uint64_t user_ns;             // 48
    uint64_t system_ns;           // 56
    uint64_t voluntary_switches;  // 64
    uint64_t involuntary_switches; // 72
    uint64_t migrations;          // 80  seen between reads, a lower bound, unless kScheduleExactMigrations
    uint64_t minor_faults;        // 88
    uint64_t major_faults;        // 96
    StringId allowed_cpus;        // 104  list format, as last seen
    uint32_t flags;               // 108 ThreadScheduleFlags
    uint32_t inner_tid;           // 112 its tid in a PID namespace below the writer's, 0: it is in the writer's; since 1.4
    uint32_t padding;             // 116
};
static_assert(sizeof(ThreadSchedule) == 120);
enum ThreadScheduleFlags : uint32_t {
    kScheduleExactMigrations = 1u << 0, // migrations are the kernel's own count
    kScheduleEnded = 1u << 1,           // the thread ended
};

// Intervals lengthen as a run goes on, so that their number grows with the logarithm of its length. A thread
// (or CPU) that did nothing new in an interval has no record for it.
struct ThreadInterval {
    RecordHeader header;   //     header.tid: the thread
    uint32_t pid;          //  8
    int32_t cpu;           // 12  last CPU it ran on
    uint64_t begin_ns;     // 16
    uint64_t end_ns;       // 24
    uint64_t run_ns;       // 32
    uint64_t run_delay_ns; // 40
    uint32_t migrations;   // 48
    uint32_t state;        // 52  'R', 'S', 'D', ... at the end
};
static_assert(sizeof(ThreadInterval) == 56);

struct CpuInterval {
    RecordHeader header;
    uint32_t cpu;        //  8
    uint32_t flags;      // 12  CpuIntervalFlags
    uint64_t begin_ns;   // 16
    uint64_t end_ns;     // 24
    uint64_t user_ns;    // 32  from /proc/stat, tick resolution
    uint64_t system_ns;  // 40
    uint64_t idle_ns;    // 48  idle and waiting for I/O
    uint64_t interrupt_ns; // 56  hard and soft
    uint64_t steal_ns;   // 64
    uint64_t run_own_ns; // 72  part of it spent by threads of this run (schedstat), as last seen on this CPU
};
static_assert(sizeof(CpuInterval) == 80);
enum CpuIntervalFlags : uint32_t {
    kCpuAllowed = 1u << 0, // the run may use this CPU
};

struct NodeMemory {
    RecordHeader header;
    uint32_t node;           //  8
    uint32_t padding;        // 12
    uint64_t time_ns;        // 16
    uint64_t total_bytes;    // 24
    uint64_t free_bytes;     // 32
    uint64_t file_bytes;     // 40  page cache
    uint64_t anonymous_bytes; // 48
    uint64_t local_allocations;  // 56  numastat, pages, since boot
    uint64_t missed_allocations; // 64  numa_miss: wanted elsewhere, got here
    uint64_t foreign_allocations; // 72  numa_foreign: wanted here, got elsewhere
    uint64_t reclaimable_bytes; // 80  page cache that makes room when it is needed: of files, not of tmpfs; since 1.3
};
static_assert(sizeof(NodeMemory) == 88);

struct OtherProcess {
    RecordHeader header; //     header.tid: its pid
    StringId name;       //  8  comm
    int32_t last_cpu;    // 12
    uint64_t cpu_ns;     // 16  while this run was recorded
    uint64_t first_ns;   // 24
    uint64_t last_ns;    // 32
    StringId allowed_cpus; // 40
    uint32_t user_id;    // 44
};
static_assert(sizeof(OtherProcess) == 48);

struct InterruptSource {
    RecordHeader header;
    StringId name;  //  8  as /proc/interrupts names it
    uint32_t cpu;   // 12
    uint64_t count; // 16  while this run was recorded
};
static_assert(sizeof(InterruptSource) == 24);

struct RecorderCost {
    RecordHeader header;
    uint64_t cpu_ns;        //  8  the recorder's own CPU time
    uint64_t samples;       // 16  taken
    uint64_t lost_samples;  // 24  dropped by the kernel's rings
    uint64_t sample_cost_ns; // 32  estimated cost of one sample to the target
    uint64_t throttled_ns;  // 40  time during which sampling was slowed to keep the budget
    uint64_t start_up_ns;   // 48  from the launch to the program's exec
    uint64_t sample_period_ns; // 56
};
static_assert(sizeof(RecorderCost) == 64);

struct Topology {
    RecordHeader header;
    StringId xml;          //  8  first of xml_parts consecutive string ids that make one hwloc XML document
    uint32_t xml_parts;    // 12
    StringId allowed_cpus; // 16  list format: what the run was allowed when it began
    uint32_t cpu_count;    // 20  online
};
static_assert(sizeof(Topology) == 24);

// Accesses whose address could be told from the registers of a time sample. One record for each instruction and
// process; weighted by time, not by number of executions.
struct AccessSite {
    RecordHeader header;
    uint32_t pid;            //  8
    uint32_t flags;          // 12  AlignFlags
    Address address;         // 16  of the instruction
    uint16_t width;          // 24  bytes
    uint16_t padding[3];     // 26
    uint64_t samples;        // 32
    uint64_t time_ns;        // 40  what they stand for
    uint64_t unaligned;      // 48  of the samples: address % width != 0
    uint64_t line_crossings; // 56
    uint64_t page_crossings; // 64
    Address last_address;    // 72  of the last sample that was unaligned, else of the last one
    uint64_t first_ns;       // 80  of the first sample: tells the image of a pid that executed another program
};
static_assert(sizeof(AccessSite) == 88);

// Picoseconds of one access in a loop of independent ones, timed by the recorder on this machine. 0: not measured.
struct AccessPenalty {
    RecordHeader header;
    uint64_t loads;         //  8  how many were timed for each figure
    uint64_t aligned_load_ps; // 16
    uint64_t unaligned_load_ps; // 24  within a line
    uint64_t line_load_ps;    // 32  crossing a line
    uint64_t page_load_ps;    // 40  crossing a page
    uint64_t aligned_store_ps; // 48
    uint64_t unaligned_store_ps; // 56
    uint64_t line_store_ps;   // 64
    uint64_t page_store_ps;   // 72
    uint64_t locked_ps;       // 80  an aligned locked operation
    uint64_t split_lock_ps;   // 88  one that crosses a line
    StringId split_lock_setting; // 96  what the kernel does about split locks, in its own words; 0: not known
    // At least 1 where they were measured, in sweeps of 8-byte accesses that are 4 bytes off.
    uint16_t sweep_line_load_ps;  // 100  what a line crossing adds where one access of 8 crosses; since 1.2
    uint16_t sweep_line_store_ps; // 102  the same of stores; since 1.2
};
static_assert(sizeof(AccessPenalty) == 104);

struct EventCount {
    RecordHeader header; //     header.tid 0
    StringId name;       //  8  "alignment-faults", "emulation-faults", a PMU event's own name, "memory:" and the kernel's word
    uint32_t pid;        // 12  the process it was opened on, its descendants included; 0: the whole machine
    uint64_t count;      // 16
};
static_assert(sizeof(EventCount) == 24);

// Where memory is and who reaches for it; of hosts with more than one NUMA node that has memory. Nodes are numbered as
// the system numbers them, -1: not known.

struct NumaNode {
    RecordHeader header;  //     header.tid 0
    uint32_t node;        //  8
    uint32_t padding;     // 12
    uint64_t total_bytes; // 16  of memory, 0: it has CPUs only
    StringId cpus;        // 24  list format, empty: it has memory only
    StringId distances;   // 28  to all nodes in ascending order, separated by blanks: the firmware's, 10 is local
};
static_assert(sizeof(NumaNode) == 32);

enum MemoryAreaFlags : uint32_t {
    kAreaHeap = 1u << 0,     // the break
    kAreaStack = 1u << 1,    // of the first thread
    kAreaFile = 1u << 2,     // of a file, statics of programs and libraries included
    kAreaShared = 1u << 3,   // with other processes
    kAreaWritable = 1u << 4,
};

struct MemoryArea {
    RecordHeader header; //     header.tid 0
    uint32_t id;         //  8
    uint32_t pid;        // 12
    Address start;       // 16
    Address end;         // 24  first address behind it, at its largest
    uint64_t first_ns;   // 32  when it was first seen
    uint32_t flags;      // 40  MemoryAreaFlags
    StringId path;       // 44  as /proc/PID/maps names it, 0: anonymous
};
static_assert(sizeof(MemoryArea) == 48);

// Counted by thread, instruction, node of the CPU, node of the page, and part of the area (1/64 of it or less; more
// where a process has too many). Weighted by time, like AccessSite.
struct MemoryTraffic {
    RecordHeader header;   //     header.tid: the thread
    uint32_t pid;          //  8
    uint32_t area;         // 12  MemoryArea::id, 0: not known
    Address instruction;   // 16  address
    NodeId path;           // 24  of the first such sample, 0: not known
    uint32_t flags;        // 28  AlignFlags
    uint16_t width;        // 32  bytes
    int16_t cpu_node;      // 34
    int16_t page_node;     // 36
    uint16_t unknown;      // 38  why page_node is not known: errno of the page, 3 when the process had ended
    uint64_t samples;      // 40
    uint64_t time_ns;      // 48  what they stand for
    Address lowest_address;  // 56
    Address highest_address;  // 64
    Address last_address;  // 72
    uint64_t first_ns;     // 80
    uint64_t last_ns;      // 88
};
static_assert(sizeof(MemoryTraffic) == 96);

struct MemoryEpoch {
    RecordHeader header; //     header.tid: the thread
    uint32_t pid;        //  8
    int16_t cpu_node;    // 12
    int16_t page_node;   // 14
    uint64_t begin_ns;   // 16
    uint64_t end_ns;     // 24
    uint64_t samples;    // 32
    uint64_t time_ns;    // 40  what they stand for
};
static_assert(sizeof(MemoryEpoch) == 48);

// Faults in user mode. The first one of a page decides on which node it lies; later ones (after fork, of files, of
// automatic NUMA balancing) count here as well.
struct FirstTouch {
    RecordHeader header;   //     header.tid: the thread
    uint32_t pid;          //  8
    uint32_t area;         // 12  MemoryArea::id, 0: not known
    Address instruction;   // 16  address
    NodeId path;           // 24
    int16_t cpu_node;      // 28
    int16_t page_node;     // 30  where the page lay soon after
    uint64_t samples;      // 32
    uint64_t faults;       // 40  what they stand for
    Address lowest_address;  // 48
    Address highest_address;  // 56
    uint64_t first_ns;     // 64
    uint64_t last_ns;      // 72
};
static_assert(sizeof(FirstTouch) == 80);

// The largest values that were seen in /proc/PID/status; of hosts with more than one NUMA node that has memory.
struct ProcessMemory {
    RecordHeader header;     //     header.tid 0
    uint32_t pid;            //  8
    StringId policy;         // 12  of the process, as /proc/PID/numa_maps shows it: "default", "interleave:0-1"; 0: not known
    uint64_t first_ns;       // 16  when it was first looked at: tells the image of a pid that executed another program
    uint64_t last_ns;        // 24
    uint64_t peak_bytes;     // 32  resident, shared libraries and files included (VmHWM)
    uint64_t anonymous_bytes; // 40  resident and its own (RssAnon)
    uint64_t shared_bytes;   // 48  resident, of segments that it may share with others (RssShmem)
    uint64_t inherited_bytes; // 56  of anonymous_bytes, what it had at the first look, if fork alone made it: its parent's
};
static_assert(sizeof(ProcessMemory) == 64);

// Sampled accesses of one instruction that follow each other at one distance, and whose lines share so few sets of a
// cache that it cannot hold them, although it is large enough. The walk was timed by the recorder on this machine, as
// it was seen and with rows one line longer.
struct AccessStride {
    RecordHeader header;
    uint32_t pid;             //  8
    uint32_t flags;           // 12  AlignFlags; a load and a store: the loop writes what it reads there
    Address address;          // 16  of the instruction
    uint16_t width;           // 24  bytes
    uint16_t level;           // 26  of the cache
    uint16_t ways;            // 28
    uint16_t line_bytes;      // 30
    uint32_t sets;            // 32
    uint32_t sets_used;       // 36  by the lines of one walk
    uint64_t samples;         // 40  of the instruction
    uint64_t time_ns;         // 48  what they stand for
    uint64_t moved_samples;   // 56  of them, with this stride
    uint64_t moved_time_ns;   // 64
    uint64_t stride;          // 72  bytes, without its sign
    uint64_t walk;            // 80  accesses from the beginning of the innermost loop to its end, the most that were seen
    uint64_t advance;         // 88  bytes, greatest common divisor of the distances between walks; 0: they are the same
    Address lowest_address;   // 96  of those sampled
    Address highest_address;  // 104
    Address last_address;     // 112
    uint64_t padded_stride;   // 120 bytes
    uint64_t seen_ps;         // 128 of one access as timed, 0: not measured
    uint64_t padded_ps;       // 136
    uint64_t first_ns;        // 144 of the first sample: tells the image of a pid that executed another program
    uint64_t last_ns;         // 152 of the sample at last_address
};
static_assert(sizeof(AccessStride) == 160);

// chase: each access waits for the one before
enum ScatterForm : uint16_t { kScatterGather = 1, kScatterChase = 2 };

enum PageFlags : uint32_t {
    kPagesEligible = 1u << 0,  // the kernel would give the mapping transparent huge pages
    kPagesAdvised = 1u << 1,   // madvise(MADV_HUGEPAGE)
    kPagesForbidden = 1u << 2, // madvise(MADV_NOHUGEPAGE)
    kPagesRefused = 1u << 3,   // prctl(PR_SET_THP_DISABLE), of the whole process
};

// Sampled accesses of one instruction whose addresses the registers do not foretell, and which fall anywhere into a
// mapping. Such accesses were timed by the recorder on this machine, with pages of both kinds.
struct PageScatter {
    RecordHeader header;
    uint32_t pid;             //  8
    uint32_t flags;           // 12  AlignFlags
    Address address;          // 16  of the instruction
    uint16_t width;           // 24  bytes
    uint16_t form;            // 26  ScatterForm
    uint32_t area_flags;      // 28  MemoryAreaFlags
    uint32_t page_flags;      // 32  PageFlags, as seen last
    StringId path;            // 36  of the mapping as in MemoryArea
    uint64_t samples;         // 40
    uint64_t time_ns;         // 48  what they stand for
    uint64_t small_ns;        // 56  of that, on small pages
    uint64_t places;          // 64  samples that were looked at closely
    uint64_t pages;           // 72  small pages that these fell into
    Address lowest_address;   // 80  of them
    Address highest_address;  // 88
    Address last_address;     // 96
    uint64_t footprint_bytes; // 104 as if all of so much memory were used evenly
    Address area_start;       // 112
    Address area_end;         // 120 first address behind it
    uint64_t resident_bytes;  // 128 of the mapping, as seen last
    uint64_t huge_bytes;      // 136 of them, by huge pages
    uint64_t timed_bytes;     // 144 memory over which accesses were timed, 0: not timed
    uint64_t small_ps;        // 152 of one access
    uint64_t huge_ps;         // 160 0: there were no huge pages for the trial
    StringId why_not_timed;   // 168
    uint32_t looks;           // 172 how often the mapping was looked at
    uint64_t first_ns;        // 176 of the first sample: tells the image of a pid that executed another program
    uint64_t last_ns;         // 184
    uint64_t watched;         // 192 accesses that were seen one after another, 0: that was not to be had
    uint64_t new_pages;       // 200 of them, those that needed a page which the few before did not
};
static_assert(sizeof(PageScatter) == 208);

// Only of hosts where a PageScatter was met. Words of the kernel's files, 0: it does not say.
struct HugePages {
    RecordHeader header;     //     header.tid 0
    StringId enabled;        //  8  always, madvise or never
    StringId defrag;         // 12
    StringId shared_enabled; // 16  of shared memory
    uint32_t padding;        // 20
    uint64_t page_bytes;     // 24  of a huge page
    uint64_t scan_pages;     // 32  of the base size, which khugepaged looks at before it sleeps
    uint64_t scan_sleep_ms;  // 40
};
static_assert(sizeof(HugePages) == 48);

// Accesses of one loop that walk through one piece of memory side by side are one stream: that of the access in front.
// Only streams whose data are gone from the caches before they are needed again, or are never needed again.
struct MemoryStream {
    RecordHeader header;
    uint32_t pid;             //  8
    uint32_t loop;            // 12  the same for all streams of one loop; private to the file
    Address loop_begin;       // 16  address of the loop's first instruction
    Address loop_end;         // 24  of its last one
    Address instruction;      // 32  address, of the access in front
    uint32_t flags;           // 40  AlignFlags, of all accesses of the stream together
    uint16_t width;           // 44  bytes
    uint16_t past_caches;     // 46  1: non-temporal stores, which need not read what they overwrite
    int64_t round_bytes;      // 48  from one round of the loop to the next
    uint64_t read_bytes;      // 56  from memory, of one round: lines that are stored to are read first
    uint64_t written_bytes;   // 64  to memory, of one round
    uint64_t footprint_bytes; // 72  of all threads, as samples fell
    Address lowest_address;   // 80
    Address highest_address;  // 88
    Address last_address;     // 96
    uint64_t samples;         // 104 of the loop, in bursts
    uint64_t first_ns;        // 112 of these: tells the image of a pid that executed another program
    uint64_t last_ns;         // 120
};
static_assert(sizeof(MemoryStream) == 128);

// For some milliseconds, threads that stream were sampled so densely that the distance of two samples is what the stream
// came forward. One record for each loop that was met; those of one look have the same begin_ns.
struct TrafficBurst {
    RecordHeader header;
    uint32_t pid;                 //  8
    uint32_t loop;                // 12  MemoryStream::loop
    uint64_t begin_ns;            // 16
    uint64_t end_ns;              // 24
    uint64_t threads_milli;       // 32  thousandths of a thread that were in the loop at once, on average
    uint64_t read_bytes_per_s;    // 40  from memory, all these threads together
    uint64_t written_bytes_per_s; // 48  to memory
};
static_assert(sizeof(TrafficBurst) == 56);

// After the program had ended: threads on CPUs that it used walked through arrays of their own, beyond the caches, with as
// many streams of each kind as its loops have. Bytes are counted as in TrafficBurst.
struct BandwidthRoof {
    RecordHeader header;
    uint32_t threads;          //  8  0: nothing could be measured
    uint16_t loads;            // 12  arrays that are read
    uint16_t stores;           // 14  overwritten, each line of which is read first
    uint16_t updates;          // 16  read and written
    uint16_t past_caches;      // 18  overwritten with non-temporal stores
    StringId cpus;             // 20  of the threads, list format
    uint32_t nodes;            // 24  memory nodes of these CPUs
    StringId why_not;          // 28  measured, 0: it was
    uint64_t bytes;            // 32  of all arrays
    uint64_t bytes_per_s;      // 40  median of several repetitions
    uint64_t low_bytes_per_s;  // 48  lower quartile
    uint64_t high_bytes_per_s; // 56  upper quartile
};
static_assert(sizeof(BandwidthRoof) == 64);

// Sampled accesses to one cache line. A handover: a sample of one thread after one of another thread on another CPU, of
// which at least one is known to write. The same: one writes what the other one uses; such handovers count if the samples
// are no more than about three sampling intervals apart. Other: they use different bytes; such handovers count if the
// samples are as close, or other samples in the same page are.
struct SharedLine {
    RecordHeader header;
    uint32_t pid;              //  8
    uint32_t line_bytes;       // 12
    Address address;           // 16
    uint64_t samples;          // 24  of all threads
    uint64_t time_ns;          // 32  what they stand for
    uint64_t pairs;            // 40  samples that followed another one
    uint64_t handovers;        // 48  of them, by another thread on another CPU, whatever they do
    uint64_t close_pairs;      // 56  samples that soon followed another one
    uint64_t close_handovers;  // 64
    uint64_t same_handovers;   // 72
    uint64_t other_handovers;  // 80
    uint64_t same_slices;      // 88  of the process's time with several threads, a bit each: such handovers in it
    uint64_t other_slices;     // 96
    uint64_t slice_ns;         // 104 the same for all lines of a process
    uint32_t threads;          // 112 that were seen there, about
    uint32_t padding;          // 116
    uint64_t first_ns;         // 120 of the first sample: tells the image of a pid that executed another program
};
static_assert(sizeof(SharedLine) == 128);

// Follows its line.
struct LineUse {
    RecordHeader header;      //     header.tid: the thread
    uint32_t pid;             //  8
    NodeId path;              // 12  of its samples, 0: not known
    Address line;             // 16  SharedLine::address
    Address instruction;      // 24  address
    uint16_t offset;          // 32  of the first byte in the line
    uint16_t width;           // 34  bytes
    uint32_t flags;           // 36  AlignFlags
    uint8_t code[15];         // 40  the instruction's bytes
    uint8_t code_bytes;       // 55
    Address base_value;       // 56  of the base register of its operand, at the last sample
    uint64_t samples;         // 64
    uint64_t time_ns;         // 72  what they stand for
    uint64_t shared_ns;       // 80  of that, while other threads were about, and not in a loop that only waits for a value
    uint64_t polled_ns;       // 88  of that, in such a loop
    uint64_t same_handovers;  // 96  to it
    uint64_t other_handovers; // 104
    uint64_t first_ns;        // 112
    uint64_t last_ns;         // 120
};
static_assert(sizeof(LineUse) == 128);

// Picoseconds of one access to a line of its own and to a line in which another CPU does the same to other bytes (of loads:
// updates them), in a loop that calculates between them so long that such accesses take about as much of the time as those
// to shared lines take in the program. 0: not measured. Update: an addition to memory without LOCK.
struct LineTransfer {
    RecordHeader header;          //     header.tid 0
    int32_t cpu;                  //  8
    int32_t other_cpu;            // 12
    uint64_t own_load_ps;         // 16
    uint64_t contended_load_ps;   // 24
    uint64_t own_store_ps;        // 32
    uint64_t contended_store_ps;  // 40
    uint64_t own_update_ps;       // 48
    uint64_t contended_update_ps; // 56
    uint64_t own_locked_ps;       // 64
    uint64_t contended_locked_ps; // 72
};
static_assert(sizeof(LineTransfer) == 80);

// Sampled: the recorder looks at every thread about a hundred times a second or less. A look that finds the thread blocked
// stands for the time since the look before.
struct BlockedSite {
    RecordHeader header;   //     header.tid: the thread
    uint32_t pid;          //  8
    NodeId path;           // 12  where it waits, 0: not known
    int32_t system_call;   // 16  as the machine numbers them, -1: none (a page fault)
    StringId descriptor;   // 20  what its first argument refers to ("/a/file", "pipe:[4711]"), where that is a descriptor
    uint64_t object;       // 24  futex: the address waited on; else 0
    uint64_t looks;        // 32  that found it there
    uint64_t time_ns;      // 40  what they stand for
    uint64_t waits;        // 48  different waits among the looks, a lower bound
    uint64_t bytes;        // 56  read and write: requested, the sum over `waits`
    uint64_t first_ns;     // 64
    uint64_t last_ns;      // 72
    uint64_t wall_ns;      // 80  1.5: of the run's wall time, what depended on this wait (see ThreadWall)
    uint64_t alone_ns;     // 88  1.5: of it, while no other thread of the run ran or waited for a device
};
static_assert(sizeof(BlockedSite) == 96);

// The owner word of a mutex or reader-writer lock of the C library names the holder.
struct LockHolder {
    RecordHeader header;   //     header.tid: the thread that waits
    uint32_t pid;          //  8
    NodeId path;           // 12  where it waits
    uint64_t object;       // 16  BlockedSite::object
    uint32_t holder;       // 24  tid
    NodeId holder_path;    // 28  where the holder was: blocked, or by its latest time sample during the wait; 0: not known
    int32_t holder_call;   // 32  the system call that the holder itself was blocked in, -1: none, or not known
    uint32_t padding;      // 36
    uint64_t looks;        // 40
    uint64_t time_ns;      // 48  what they stand for
    uint64_t first_ns;     // 56
    uint64_t last_ns;      // 64
    uint64_t wall_ns;      // 72  1.5: of the run's wall time, what depended on the holder through this wait
};
static_assert(sizeof(LockHolder) == 80);

// The run ends when its first thread ends. At every look the recorder follows from there who waits for whom (join, lock,
// child process; any running thread where the waker is not known) to threads that wait for nobody of the run: the wall time
// since the look before depended on them. Blocked ones have it in their BlockedSite, running ones here.
struct ThreadWall {
    RecordHeader header;   //     header.tid: the thread
    uint32_t pid;          //  8
    uint32_t padding;      // 12
    uint64_t looks;        // 16
    uint64_t running_ns;   // 24  of the run's wall time, what depended on this thread while it ran or waited for a CPU
    uint64_t first_ns;     // 32
    uint64_t last_ns;      // 40
};
static_assert(sizeof(ThreadWall) == 48);

} // namespace plumb::trace
