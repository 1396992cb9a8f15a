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
//
// This file lists the records; the files of trace/ describe them, one file a subject. trace_format.py generates the catalogue
// of fields, the dump and the tests' reader from all of them.
#pragma once

#include <plumb/trace/access_patterns.h>
#include <plumb/trace/alignment.h>
#include <plumb/trace/file.h>
#include <plumb/trace/heap.h>
#include <plumb/trace/host.h>
#include <plumb/trace/memory.h>
#include <plumb/trace/mpi.h>
#include <plumb/trace/noise.h>
#include <plumb/trace/openmp.h>
#include <plumb/trace/processes.h>
#include <plumb/trace/recording.h>
#include <plumb/trace/samples.h>
#include <plumb/trace/sharing.h>
#include <plumb/trace/threads.h>
#include <plumb/trace/waits.h>

namespace plumb::trace {

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
    X(54, HugePages, "1.3, recorder: the kernel's settings for huge pages")                                  \
    X(55, SharedLine, "1.3: a cache line that several threads use at the same time, one of them to write")   \
    X(56, LineUse, "1.3: what one instruction of one thread does to such a line")                            \
    X(57, LineTransfer, "1.3, recorder: what accesses to a line cost while another CPU uses it, measured")   \
    X(58, MemoryStream, "1.3: an access of a loop that streams through more memory than the caches hold")    \
    X(59, TrafficBurst, "1.3: what the threads in such a loop moved while they were looked at closely")      \
    X(60, BandwidthRoof, "1.3, recorder: what so many threads move through memory here, measured")           \
    X(61, BlockedSite, "1.4, updated: where one thread was off its CPU, waiting in one call")                \
    X(62, LockHolder, "1.4, updated: what the holder of a lock did while a thread waited for it")            \
    X(63, ThreadWall, "1.5, updated: how long the run's wall time depended on one thread that ran")          \
    X(64, WaitedFor, "1.6, updated: who went on while a thread waited for it, and where")                    \
    X(65, ThreadSwitches, "1.6, updated: how often and how long a thread was off its CPU, exactly")          \
    X(68, ReplayedAccess, "1.6: an unaligned access of a loop, and what the loop takes here with an aligned one") \
    X(72, OmpRuntime, "1.6, updated: an OpenMP runtime, and the clock of the records about it")              \
    X(73, OmpRegion, "1.6, updated: parallel regions of one place in the code that one thread started")      \
    X(74, OmpPart, "1.6, updated: what one thread did in the regions of one place")                          \
    X(75, OmpWait, "1.6, updated: one thread's waits at one barrier, critical or lock of OpenMP")              \
    X(76, SpinLoop, "1.6: a loop that only waits for another thread, and the time samples in it")              \
    X(80, PageRead, "1.6, updated: page faults of one instruction and thread that read from one file, or from swap") \
    X(81, ThreadsActive, "1.6, updated: how long how many threads of a process were active at the same time") \
    X(82, GoroutineWait, "1.10, updated: where goroutines of a Go program waited, and for what") \
    X(83, GoroutineLooks, "1.10, updated: how a Go program was looked at, and how many goroutines it had") \
    X(84, NoiseCpu, "1.12: what one CPU lost while fixed work was measured on it") \
    X(85, NoiseLoss, "1.12: one such loss, and whose it was") \
    X(86, NoiseSeries, "1.12: what one CPU lost in each of consecutive intervals") \
    X(87, Preemption, "1.12: a thread of the run lost its CPU to another, and got one again")                \
    X(88, OtherActivity, "1.12: CPU time of a process outside the run between two looks at it")              \
    X(89, CounterSlice, "1.15, recorder: what a counter of the CPU or the kernel counted in a part of the run") \
    X(90, PackedLoop, "1.16: a loop that computes one number at a time, and what it takes here if it computes several") \
    X(91, CounterSite, "1.17, updated: where in the code an event happened, by its samples")                \
    X(92, CounterSample, "1.18, updated: when an event happened: some of its samples, all equally likely to be among them")

enum class RecordType : uint16_t {
#define PLUMB_X(number, name, what) name = number,
    PLUMB_TRACE_RECORDS(PLUMB_X)
#undef PLUMB_X
};

} // namespace plumb::trace
