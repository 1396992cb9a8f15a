// Every field of every record, in order, as trace_format.h declares them: PLUMB_FIELDS_<Record>(F) expands to
// F(field, kind, "what it is"), the record's header left out. Kinds are those of trace/record_fields.h. A field that
// is missing here, or in the wrong place, does not compile (record_fields.cpp); a comment there and a text here that
// disagree fail a test.
#pragma once

#define PLUMB_FIELDS_FileHeader(F)                                                                           \
    F(magic, text, "kMagic")                                                                                 \
    F(major, number, "")                                                                                     \
    F(minor, number, "")                                                                                     \
    F(header_size, number, "bytes, offset of the first chunk")                                               \
    F(writer, number, "Writer")                                                                              \
    F(flags, flags, "FileFlags, updated")                                                                    \
    F(pid, number, "of the writer")                                                                          \
    F(pid_start_ticks, number, "/proc/PID/stat field 22: with the pid the identity of a process")            \
    F(opened_ns, number, "CLOCK_MONOTONIC")                                                                  \
    F(opened_unix_ns, number, "CLOCK_REALTIME at the same moment")                                           \
    F(next_chunk, number, "bytes handed out to chunks so far, updated with atomic adds")                     \
    F(dropped_records, number, "updated")                                                                    \
    F(own_cost_ns, number, "time the writer knows it took from the target, updated")                         \
    F(closed_ns, number, "0 while kClosed is not set")                                                       \
    F(host, text, "NUL-terminated")                                                                          \
    F(reserved, padding, "")

#define PLUMB_FIELDS_ChunkHeader(F)                                                                          \
    F(magic, number, "kChunkMagic; 0: handed out, its writer died before the first record")                  \
    F(size, number, "bytes, this header included")                                                           \
    F(committed, number, "bytes of records behind this header that a reader may take")                       \
    F(tid, number, "the thread that writes it, 0: shared under a lock")                                      \
    F(reserved, padding, "")

#define PLUMB_FIELDS_RecordHeader(F)                                                                         \
    F(type, number, "RecordType")                                                                            \
    F(size, number, "bytes, this header included, a multiple of 8")                                          \
    F(tid, number, "the thread it is about, 0: the process or the node")

#define PLUMB_FIELDS_String(F)                                                                               \
    F(id, number, "")                                                                                        \
    F(length, number, "bytes")

#define PLUMB_FIELDS_ProcessStart(F)                                                                         \
    F(pid, number, "")                                                                                       \
    F(parent_pid, number, "")                                                                                \
    F(time_ns, number, "")                                                                                   \
    F(executable, string, "path as /proc/PID/exe names it")                                                  \
    F(command_line, string, "arguments separated by NUL")                                                    \
    F(working_directory, string, "")                                                                         \
    F(rank, number, "from the launcher's environment, -1: none")                                             \
    F(rank_count, number, "-1: none")                                                                        \
    F(local_rank, number, "-1: none")                                                                        \
    F(launcher, string, "\"openmpi\", \"hydra\", \"slurm\", \"pmix\"")                                       \
    F(flags, flags, "bit 0: this image began by fork without exec")

#define PLUMB_FIELDS_ProcessEnd(F)                                                                           \
    F(time_ns, number, "")                                                                                   \
    F(kind, number, "EndKind")                                                                               \
    F(status, number, "exit status, 0 for exec")

#define PLUMB_FIELDS_ThreadStart(F)                                                                          \
    F(time_ns, number, "")                                                                                   \
    F(start_routine, address, "address, 0: the first thread")                                                \
    F(creator_tid, number, "")                                                                               \
    F(creation_path, node, "")

#define PLUMB_FIELDS_ThreadEnd(F)                                                                            \
    F(time_ns, number, "")                                                                                   \
    F(cpu_time_ns, number, "CLOCK_THREAD_CPUTIME_ID")

#define PLUMB_FIELDS_ThreadName(F)                                                                           \
    F(name, string, "")                                                                                      \
    F(padding, padding, "")

#define PLUMB_FIELDS_ModuleLoad(F)                                                                           \
    F(id, number, "")                                                                                        \
    F(pid, number, "")                                                                                       \
    F(time_ns, number, "when it appeared")                                                                   \
    F(start, address, "")                                                                                    \
    F(end, address, "first address behind it")                                                               \
    F(file_offset, number, "of `start`")                                                                     \
    F(device, number, "major << 32 | minor")                                                                 \
    F(inode, number, "")                                                                                     \
    F(build_id, bytes, "")                                                                                   \
    F(build_id_size, number, "bytes, 0: none known")                                                         \
    F(padding, padding, "")                                                                                  \
    F(path, string, "")                                                                                      \
    F(flags, flags, "ModuleFlags")

#define PLUMB_FIELDS_ModuleUnload(F)                                                                         \
    F(id, number, "ModuleLoad::id")                                                                          \
    F(pid, number, "")                                                                                       \
    F(time_ns, number, "")

#define PLUMB_FIELDS_PathNode(F)                                                                             \
    F(id, node, "")                                                                                          \
    F(parent, node, "0: outermost frame")                                                                    \
    F(address, address, "")                                                                                  \
    F(pid, number, "whose address space; 0: the file's own process")                                         \
    F(flags, flags, "bit 0: a sampled instruction, not a return address; bit 1: kernel address")

#define PLUMB_FIELDS_HeapTotals(F)                                                                           \
    F(allocations, number, "malloc and its kin, realloc of NULL included; those that succeeded")             \
    F(allocated_bytes, number, "as requested, by reallocations too")                                         \
    F(frees, number, "free of non-NULL, realloc to 0 included")                                              \
    F(reallocations, number, "realloc of a live block to another size: both a free and an allocation of a site")\
    F(zero_sized, number, "")                                                                                \
    F(failed, number, "returned NULL")                                                                       \
    F(max_request_bytes, number, "")                                                                         \
    F(size_histogram, list, "[i]: requests of 2^i <= bytes < 2^(i+1), [0] also 0; full mode only")

#define PLUMB_FIELDS_HeapSite(F)                                                                             \
    F(path, node, "")                                                                                        \
    F(mode, number, "0: sampled, 1: every event")                                                            \
    F(allocations, number, "")                                                                               \
    F(allocated_bytes, number, "")                                                                           \
    F(frees, number, "of blocks this path allocated, whoever freed them")                                    \
    F(freed_bytes, number, "")                                                                               \
    F(temporary, number, "freed by the same thread before its next allocation; full mode only")              \
    F(peak_live_bytes, number, "live bytes when the whole heap was largest (within 1 %), see above")         \
    F(samples, number, "allocations actually seen")                                                          \
    F(lock_wait_ns, number, "time blocked inside the allocator in the calls that were timed: a lower bound") \
    F(first_ns, number, "")                                                                                  \
    F(last_ns, number, "full mode: to within 64 events of the thread")                                       \
    F(peak_epoch, number, "see above")

#define PLUMB_FIELDS_LargeMap(F)                                                                             \
    F(time_ns, number, "")                                                                                   \
    F(address, address, "")                                                                                  \
    F(bytes, number, "0: being written")                                                                    \
    F(path, node, "")                                                                                        \
    F(kind, number, "1: mmap, 2: mremap, 3: sbrk/brk growth, 4: malloc above the large limit")               \
    F(until_ns, number, "0: it was not seen to end")

#define PLUMB_FIELDS_LargeUnmap(F)                                                                           \
    F(time_ns, number, "")                                                                                   \
    F(address, address, "")                                                                                  \
    F(bytes, number, "")

#define PLUMB_FIELDS_Evidence(F)                                                                             \
    F(source, string, "\"perf-sampling\", \"timer-sampling\", \"heap\", \"threads\", ...")                   \
    F(state, number, "EvidenceState")                                                                        \
    F(why, string, "")                                                                                       \
    F(enable, string, "what would enable it")                                                                \
    F(pid, number, "0: the whole run")                                                                       \
    F(padding, padding, "")

#define PLUMB_FIELDS_Placement(F)                                                                            \
    F(time_ns, number, "")                                                                                   \
    F(slot, number, "running number in the group")                                                           \
    F(cpu, number, "operating-system CPU number, -1: refused")                                               \
    F(memory_node, number, "bound memory to it, -1: not bound")                                              \
    F(error, number, "errno of the refusal")

#define PLUMB_FIELDS_Region(F)                                                                               \
    F(time_ns, number, "")                                                                                   \
    F(name, string, "")                                                                                      \
    F(begin, number, "1: begins, 0: ends")

#define PLUMB_FIELDS_MpiRank(F)                                                                              \
    F(library, number, "MpiLibrary")                                                                         \
    F(rank, number, "-1: not yet known (MPI_Init did not return)")                                           \
    F(size, number, "")                                                                                      \
    F(thread_level, number, "as provided: 0 single, 1 funneled, 2 serialized, 3 multiple")                   \
    F(library_version, string, "")                                                                           \
    F(job, string, "what the launcher calls this job, 0: no launcher")                                       \
    F(flags, flags, "MpiRankFlags")                                                                          \
    F(dropped_sites, number, "updated: sites, peers or communicators that found no room")                    \
    F(first_ticks, number, "two moments, as far apart as possible,")                                         \
    F(first_ns, number, "")                                                                                  \
    F(last_ticks, number, "updated")                                                                         \
    F(last_ns, number, "updated")                                                                            \
    F(init_begin_ns, number, "")                                                                             \
    F(init_end_ns, number, "")                                                                               \
    F(finalize_begin_ns, number, "updated, 0: MPI_Finalize was not called")                                  \
    F(finalize_end_ns, number, "updated")                                                                    \
    F(mpi_ticks, number, "updated: time inside MPI of all threads")                                          \
    F(collectives, number, "updated: how many there were; MpiCollective keeps those with")                   \
    F(collective_stride, number, "updated: sequence % collective_stride == 0, a power of two that grows")    \
    F(messages, number, "updated: how many ends of messages there were; MpiMessage keeps those with")        \
    F(message_stride, number, "updated: sequence % message_stride == 0")                                     \
    F(unmatched, number, "updated: completed operations whose request was not known, and messages not counted") \
    F(timeline_calls, number, "updated: how many calls were put into the ring of MpiEvents so far; since 1.3")

#define PLUMB_FIELDS_MpiComm(F)                                                                              \
    F(id, number, "from 1, private to the file")                                                             \
    F(flags, flags, "MpiCommFlags")                                                                          \
    F(group_hash, flags, "")                                                                                 \
    F(ordinal, number, "")                                                                                   \
    F(rank, number, "the writer's rank in it")                                                               \
    F(size, number, "")                                                                                      \
    F(remote_size, number, "of an inter-communicator, else 0")                                               \
    F(parent, number, "id of the communicator that it was made from, 0: not known")                          \
    F(name, string, "as the program named it, else 0")                                                       \
    F(path, node, "who made it; 0: MPI itself")                                                              \
    F(first, number, "world rank of its rank 0")                                                             \
    F(time_ticks, number, "")                                                                                \
    F(handle, address, "what MpiInside::comm calls it; since 1.3")

#define PLUMB_FIELDS_MpiSite(F)                                                                              \
    F(id, number, "from 1, private to the file")                                                             \
    F(kind, flags, "MpiKind")                                                                                \
    F(call, string, "MPI_Allreduce, ..., whatever the language")                                             \
    F(path, node, "of the caller")                                                                           \
    F(comm, number, "MpiComm::id, 0: none or not known")                                                     \
    F(padding, padding, "")                                                                                  \
    F(calls, number, "")                                                                                     \
    F(timed_calls, number, "polls that found nothing are timed now and then only")                           \
    F(ticks, number, "time inside, of all calls (scaled up from the timed ones), and between polls that waited")                     \
    F(longest_ticks, number, "")                                                                             \
    F(sent_bytes, number, "")                                                                                \
    F(received_bytes, number, "as they arrived, by the site that started the receive")                       \
    F(failed, number, "calls that returned an error")                                                        \
    F(found_nothing, number, "polls")                                                                        \
    F(first_ticks, number, "")                                                                               \
    F(last_ticks, number, "end of the last call")                                                            \
    F(size_histogram, list, "messages by bytes: [0] none, [i] 2^(i-1) <= bytes < 2^i, [31] also larger")

#define PLUMB_FIELDS_MpiPeer(F)                                                                              \
    F(peer, number, "world rank; -1: all that found no room, or are not known")                              \
    F(direction, number, "MpiDirection")                                                                     \
    F(messages, number, "")                                                                                  \
    F(bytes, number, "")                                                                                     \
    F(size_histogram, list, "as in MpiSite")

#define PLUMB_FIELDS_MpiCollective(F)                                                                        \
    F(comm, number, "")                                                                                      \
    F(site, number, "MpiSite::id, written last with release; 0: free")                                       \
    F(sequence, number, "on this communicator, from 0")                                                      \
    F(begin_ticks, number, "the call that began it")                                                         \
    F(wait_ticks, number, "waiting for its end began: that call, or the polls just before it; blocking: begin_ticks") \
    F(end_ticks, number, "it was complete")                                                                  \
    F(gap_ticks, number, "since this thread's last collective on any communicator was complete (since MPI_Init)") \
    F(gap_mpi_ticks, number, "of them inside other MPI calls")                                               \
    F(root, number, "comm rank, UINT32_MAX: none")                                                           \
    F(padding, padding, "")                                                                                  \
    F(bytes, number, "this rank's contribution")

#define PLUMB_FIELDS_MpiMessage(F)                                                                           \
    F(comm, number, "")                                                                                      \
    F(site, number, "MpiSite::id of the call that began it, written last with release; 0: free")             \
    F(peer, number, "world rank of the other end")                                                           \
    F(tag, number, "")                                                                                       \
    F(flags, flags, "MpiMessageFlags")                                                                       \
    F(wait_site, number, "of the call in which it was waited for: that completed it, or probed for it before") \
    F(sequence, number, "see above")                                                                         \
    F(begin_ticks, number, "the call that began it; of a blocking receive, or the probes and polls just before it") \
    F(wait_ticks, number, "waiting for its end began: that call, or the polls just before it; blocking: begin_ticks") \
    F(end_ticks, number, "that call returned")                                                               \
    F(bytes, number, "")

#define PLUMB_FIELDS_MpiRequest(F)                                                                           \
    F(site, number, "MpiSite::id of the call that began it, written last with release; 0: free")             \
    F(flags, flags, "MpiMessageFlags; of a collective kMpiRequestCollective")                                \
    F(peer, number, "of a collective: its root, -1: none")                                                   \
    F(tag, number, "negative: any")                                                                          \
    F(comm, number, "MpiComm::id, 0: not known")                                                             \
    F(tid, number, "the thread that began it")                                                               \
    F(handle, address, "not unique: requests that are complete at once share one")                           \
    F(sequence, number, "of a collective: as in MpiCollective")

#define PLUMB_FIELDS_MpiEvent(F)                                                                             \
    F(begin_ticks, number, "")                                                                               \
    F(end_ticks, number, "")                                                                                 \
    F(site, number, "MpiSite::id; written last; 0: the place is free")                                       \
    F(peer, number, "world rank that was sent to or received from, or the root; -1: none or not known")      \
    F(bytes, number, "of that message, or what this rank gave to the collective")

#define PLUMB_FIELDS_MpiInside(F)                                                                            \
    F(begin_ticks, number, "written last; 0: it is not inside")                                              \
    F(call, string, "")                                                                                      \
    F(kind, flags, "MpiKind")                                                                                \
    F(return_address, address, "where in the program it was called")                                         \
    F(comm, address, "MpiComm::handle, 0: none")                                                             \
    F(source, number, "kMpiReceive, kMpiProbe: from whom")                                                   \
    F(source_tag, number, "")                                                                                \
    F(target, number, "kMpiSend: to whom; kMpiCollectiveCall: the root, -1: none")                           \
    F(target_tag, number, "")                                                                                \
    F(path, node, "by whom, if this is where the path's innermost frame is; else the site has it")           \
    F(requests, number, "kMpiWait: how many it was given")                                                   \
    F(request, address, "kMpiWait: MpiRequest::handle of the first")

#define PLUMB_FIELDS_ProcessSeen(F)                                                                          \
    F(pid, number, "")                                                                                       \
    F(parent_pid, number, "")                                                                                \
    F(time_ns, number, "of fork, or of exec for a later image of the same pid")                              \
    F(executable, string, "0: not yet known (fork)")                                                         \
    F(command_line, string, "arguments separated by NUL, 0: not recorded")                                   \
    F(name, string, "comm")                                                                                  \
    F(flags, flags, "ProcessSeenFlags")

#define PLUMB_FIELDS_ProcessGone(F)                                                                          \
    F(pid, number, "")                                                                                       \
    F(status, number, "wait status where known (children of the recorder), else -1")                         \
    F(time_ns, number, "")                                                                                   \
    F(user_ns, number, "CPU time where known, else 0")                                                       \
    F(system_ns, number, "")                                                                                 \
    F(max_rss_bytes, number, "")

#define PLUMB_FIELDS_SampleSite(F)                                                                           \
    F(pid, number, "")                                                                                       \
    F(path, node, "its leaf")                                                                                \
    F(samples, number, "")                                                                                   \
    F(time_ns, number, "what they stand for")                                                                \
    F(kernel, number, "how many of them were taken in the kernel")                                           \
    F(first_ns, number, "")                                                                                  \
    F(last_ns, number, "")

#define PLUMB_FIELDS_ThreadSchedule(F)                                                                       \
    F(pid, number, "")                                                                                       \
    F(name, string, "comm")                                                                                  \
    F(first_ns, number, "first seen")                                                                        \
    F(last_ns, number, "last read")                                                                          \
    F(run_ns, number, "on a CPU (schedstat)")                                                                \
    F(run_delay_ns, number, "runnable but waiting for a CPU (schedstat)")                                    \
    F(user_ns, number, "")                                                                                   \
    F(system_ns, number, "")                                                                                 \
    F(voluntary_switches, number, "")                                                                        \
    F(involuntary_switches, number, "")                                                                      \
    F(migrations, number, "seen between reads, a lower bound, unless migrations_exact")                      \
    F(minor_faults, number, "")                                                                              \
    F(major_faults, number, "")                                                                              \
    F(allowed_cpus, string, "list format, as last seen")                                                     \
    F(flags, flags, "bit 0: migrations are the kernel's own count; bit 1: the thread ended")

#define PLUMB_FIELDS_ThreadInterval(F)                                                                       \
    F(pid, number, "")                                                                                       \
    F(cpu, number, "last CPU it ran on")                                                                     \
    F(begin_ns, number, "")                                                                                  \
    F(end_ns, number, "")                                                                                    \
    F(run_ns, number, "")                                                                                    \
    F(run_delay_ns, number, "")                                                                              \
    F(migrations, number, "")                                                                                \
    F(state, number, "'R', 'S', 'D', ... at the end")

#define PLUMB_FIELDS_CpuInterval(F)                                                                          \
    F(cpu, number, "")                                                                                       \
    F(flags, flags, "bit 0: the run may use this CPU")                                                       \
    F(begin_ns, number, "")                                                                                  \
    F(end_ns, number, "")                                                                                    \
    F(user_ns, number, "from /proc/stat, tick resolution")                                                   \
    F(system_ns, number, "")                                                                                 \
    F(idle_ns, number, "idle and waiting for I/O")                                                           \
    F(interrupt_ns, number, "hard and soft")                                                                 \
    F(steal_ns, number, "")                                                                                  \
    F(run_own_ns, number, "part of it spent by threads of this run (schedstat), as last seen on this CPU")

#define PLUMB_FIELDS_NodeMemory(F)                                                                           \
    F(node, number, "")                                                                                      \
    F(padding, padding, "")                                                                                  \
    F(time_ns, number, "")                                                                                   \
    F(total_bytes, number, "")                                                                               \
    F(free_bytes, number, "")                                                                                \
    F(file_bytes, number, "page cache")                                                                      \
    F(anonymous_bytes, number, "")                                                                           \
    F(local_allocations, number, "numastat, pages, since boot")                                              \
    F(missed_allocations, number, "numa_miss: wanted elsewhere, got here")                                   \
    F(foreign_allocations, number, "numa_foreign: wanted here, got elsewhere")                               \
    F(reclaimable_bytes, number,                                                                             \
      "page cache that makes room when it is needed: of files, not of tmpfs; since 1.3")

#define PLUMB_FIELDS_OtherProcess(F)                                                                         \
    F(name, string, "comm")                                                                                  \
    F(last_cpu, number, "")                                                                                  \
    F(cpu_ns, number, "while this run was recorded")                                                         \
    F(first_ns, number, "")                                                                                  \
    F(last_ns, number, "")                                                                                   \
    F(allowed_cpus, string, "")                                                                              \
    F(user_id, number, "")

#define PLUMB_FIELDS_InterruptSource(F)                                                                      \
    F(name, string, "as /proc/interrupts names it")                                                          \
    F(cpu, number, "")                                                                                       \
    F(count, number, "while this run was recorded")

#define PLUMB_FIELDS_RecorderCost(F)                                                                         \
    F(cpu_ns, number, "the recorder's own CPU time")                                                         \
    F(samples, number, "taken")                                                                              \
    F(lost_samples, number, "dropped by the kernel's rings")                                                 \
    F(sample_cost_ns, number, "estimated cost of one sample to the target")                                  \
    F(throttled_ns, number, "time during which sampling was slowed to keep the budget")                      \
    F(start_up_ns, number, "from the launch to the program's exec")                                          \
    F(sample_period_ns, number, "")

#define PLUMB_FIELDS_Topology(F)                                                                             \
    F(xml, string, "first of xml_parts consecutive string ids that make one hwloc XML document")             \
    F(xml_parts, number, "")                                                                                 \
    F(allowed_cpus, string, "list format: what the run was allowed when it began")                           \
    F(cpu_count, number, "online")

#define PLUMB_FIELDS_AlignSite(F)                                                                            \
    F(id, number, "from 1")                                                                                  \
    F(flags, flags, "AlignFlags")                                                                            \
    F(address, address, "of the instruction")                                                                \
    F(time_ns, number, "first hit")                                                                          \
    F(width, number, "bytes of one access")                                                                  \
    F(instruction_bytes, number, "")                                                                         \
    F(path, node, "who called the function, at the first hit; 0: not known")                                 \
    F(code, bytes, "the instruction itself, zeros behind it")

#define PLUMB_FIELDS_AlignCount(F)                                                                           \
    F(site, number, "AlignSite::id")                                                                         \
    F(exact, number, "1: every hit was counted; 0: a lower bound")                                           \
    F(hits, number, "the sum of `residues`, unless the address could not be told")                           \
    F(page_crossings, number, "4096-byte pages")                                                             \
    F(lowest_address, address, "")                                                                           \
    F(highest_address, address, "")                                                                          \
    F(last_ns, number, "of the last hit that went through the trap")                                         \
    F(residues, list, "[address % 64]")

#define PLUMB_FIELDS_AlignAddress(F)                                                                         \
    F(site, number, "AlignSite::id")                                                                         \
    F(block_kind, number, "BlockKind; statics are `unknown` here: the modules tell them")                    \
    F(address, address, "")                                                                                  \
    F(time_ns, number, "")                                                                                   \
    F(block_start, address, "of the heap block or mapping it lies in, 0: not known")                         \
    F(block_bytes, number, "as requested")                                                                   \
    F(block_path, node, "who allocated it, 0: not known")                                                    \
    F(padding, padding, "")                                                                                  \
    F(base_value, address, "of the base register of the operand")                                            \
    F(stack_pointer, address, "")                                                                            \
    F(frame_address, address, "canonical frame address of the function, 0: not known")

#define PLUMB_FIELDS_AlignTotals(F)                                                                          \
    F(mode, number, "AlignMode")                                                                             \
    F(padding, padding, "")                                                                                  \
    F(hits, number, "counted, of all sites")                                                                 \
    F(excluded_hits, number, "in excluded code, or of packed accesses: stepped over, not counted")           \
    F(windows, number, "find mode: how often the thread was armed")                                          \
    F(armed_ns, number, "find mode: for how long, an upper bound")                                           \
    F(stepped, number, "hits that took a single step")                                                       \
    F(slots, number, "hits that took a slot")                                                                \
    F(rewritten, number, "hits that took no signal at all")                                                  \
    F(trap_ns, number, "estimated time the thread spent in traps")                                           \
    F(lost_hits, number, "seen, but no room to count them")

#define PLUMB_FIELDS_AlignCode(F)                                                                            \
    F(start, address, "")                                                                                    \
    F(end, address, "")                                                                                      \
    F(address, address, "")

#define PLUMB_FIELDS_AccessSite(F)                                                                           \
    F(pid, number, "")                                                                                       \
    F(flags, flags, "AlignFlags")                                                                            \
    F(address, address, "of the instruction")                                                                \
    F(width, number, "bytes")                                                                                \
    F(padding, padding, "")                                                                                  \
    F(samples, number, "")                                                                                   \
    F(time_ns, number, "what they stand for")                                                                \
    F(unaligned, number, "of the samples: address % width != 0")                                             \
    F(line_crossings, number, "")                                                                            \
    F(page_crossings, number, "")                                                                            \
    F(last_address, address, "of the last sample that was unaligned, else of the last one")                  \
    F(first_ns, number, "of the first sample: tells the image of a pid that executed another program")

#define PLUMB_FIELDS_AccessPenalty(F)                                                                        \
    F(loads, number, "how many were timed for each figure")                                                  \
    F(aligned_load_ps, number, "")                                                                           \
    F(unaligned_load_ps, number, "within a line")                                                            \
    F(line_load_ps, number, "crossing a line")                                                               \
    F(page_load_ps, number, "crossing a page")                                                               \
    F(aligned_store_ps, number, "")                                                                          \
    F(unaligned_store_ps, number, "")                                                                        \
    F(line_store_ps, number, "")                                                                             \
    F(page_store_ps, number, "")                                                                             \
    F(locked_ps, number, "an aligned locked operation")                                                      \
    F(split_lock_ps, number, "one that crosses a line")                                                      \
    F(split_lock_setting, string, "what the kernel does about split locks, in its own words; 0: not known")  \
    F(sweep_line_load_ps, number, "what a line crossing adds where one access of 8 crosses; since 1.2")      \
    F(sweep_line_store_ps, number, "the same of stores; since 1.2")

#define PLUMB_FIELDS_EventCount(F)                                                                           \
    F(name, string,                                                                                          \
      "\"alignment-faults\", \"emulation-faults\", a PMU event's own name, \"memory:\" and the kernel's word") \
    F(pid, number, "the process it was opened on, its descendants included; 0: the whole machine")           \
    F(count, number, "")

#define PLUMB_FIELDS_NumaNode(F)                                                                             \
    F(node, number, "")                                                                                      \
    F(padding, padding, "")                                                                                  \
    F(total_bytes, number, "of memory, 0: it has CPUs only")                                                 \
    F(cpus, string, "list format, empty: it has memory only")                                                \
    F(distances, string, "to all nodes in ascending order, separated by blanks: the firmware's, 10 is local")

#define PLUMB_FIELDS_MemoryArea(F)                                                                           \
    F(id, number, "")                                                                                        \
    F(pid, number, "")                                                                                       \
    F(start, address, "")                                                                                    \
    F(end, address, "first address behind it, at its largest")                                               \
    F(first_ns, number, "when it was first seen")                                                            \
    F(flags, flags, "MemoryAreaFlags")                                                                       \
    F(path, string, "as /proc/PID/maps names it, 0: anonymous")

#define PLUMB_FIELDS_MemoryTraffic(F)                                                                        \
    F(pid, number, "")                                                                                       \
    F(area, number, "MemoryArea::id, 0: not known")                                                          \
    F(instruction, address, "address")                                                                       \
    F(path, node, "of the first such sample, 0: not known")                                                  \
    F(flags, flags, "AlignFlags")                                                                            \
    F(width, number, "bytes")                                                                                \
    F(cpu_node, number, "")                                                                                  \
    F(page_node, number, "")                                                                                 \
    F(unknown, number, "why page_node is not known: errno of the page, 3 when the process had ended")        \
    F(samples, number, "")                                                                                   \
    F(time_ns, number, "what they stand for")                                                                \
    F(lowest_address, address, "")                                                                           \
    F(highest_address, address, "")                                                                          \
    F(last_address, address, "")                                                                             \
    F(first_ns, number, "")                                                                                  \
    F(last_ns, number, "")

#define PLUMB_FIELDS_MemoryEpoch(F)                                                                          \
    F(pid, number, "")                                                                                       \
    F(cpu_node, number, "")                                                                                  \
    F(page_node, number, "")                                                                                 \
    F(begin_ns, number, "")                                                                                  \
    F(end_ns, number, "")                                                                                    \
    F(samples, number, "")                                                                                   \
    F(time_ns, number, "what they stand for")

#define PLUMB_FIELDS_FirstTouch(F)                                                                           \
    F(pid, number, "")                                                                                       \
    F(area, number, "MemoryArea::id, 0: not known")                                                          \
    F(instruction, address, "address")                                                                       \
    F(path, node, "")                                                                                        \
    F(cpu_node, number, "")                                                                                  \
    F(page_node, number, "where the page lay soon after")                                                    \
    F(samples, number, "")                                                                                   \
    F(faults, number, "what they stand for")                                                                 \
    F(lowest_address, address, "")                                                                           \
    F(highest_address, address, "")                                                                          \
    F(first_ns, number, "")                                                                                  \
    F(last_ns, number, "")

#define PLUMB_FIELDS_PageScatter(F)                                                                          \
    F(pid, number, "")                                                                                       \
    F(flags, flags, "AlignFlags")                                                                            \
    F(address, address, "of the instruction")                                                                \
    F(width, number, "bytes")                                                                                \
    F(form, number, "ScatterForm")                                                                           \
    F(area_flags, flags, "MemoryAreaFlags")                                                                  \
    F(page_flags, flags, "PageFlags, as seen last")                                                          \
    F(path, string, "of the mapping as in MemoryArea")                                                       \
    F(samples, number, "")                                                                                   \
    F(time_ns, number, "what they stand for")                                                                \
    F(small_ns, number, "of that, on small pages")                                                           \
    F(places, number, "samples that were looked at closely")                                                 \
    F(pages, number, "small pages that these fell into")                                                     \
    F(lowest_address, address, "of them")                                                                    \
    F(highest_address, address, "")                                                                          \
    F(last_address, address, "")                                                                             \
    F(footprint_bytes, number, "as if all of so much memory were used evenly")                               \
    F(area_start, address, "")                                                                               \
    F(area_end, address, "first address behind it")                                                          \
    F(resident_bytes, number, "of the mapping, as seen last")                                                \
    F(huge_bytes, number, "of them, by huge pages")                                                          \
    F(timed_bytes, number, "memory over which accesses were timed, 0: not timed")                            \
    F(small_ps, number, "of one access")                                                                     \
    F(huge_ps, number, "0: there were no huge pages for the trial")                                          \
    F(why_not_timed, string, "")                                                                             \
    F(looks, number, "how often the mapping was looked at")                                                  \
    F(first_ns, number, "of the first sample: tells the image of a pid that executed another program")       \
    F(last_ns, number, "")                                                                                   \
    F(watched, number, "accesses that were seen one after another, 0: that was not to be had")               \
    F(new_pages, number, "of them, those that needed a page which the few before did not")

#define PLUMB_FIELDS_HugePages(F)                                                                            \
    F(enabled, string, "always, madvise or never")                                                           \
    F(defrag, string, "")                                                                                    \
    F(shared_enabled, string, "of shared memory")                                                            \
    F(padding, padding, "")                                                                                  \
    F(page_bytes, number, "of a huge page")                                                                  \
    F(scan_pages, number, "of the base size, which khugepaged looks at before it sleeps")                    \
    F(scan_sleep_ms, number, "")

#define PLUMB_FIELDS_ProcessMemory(F)                                                                        \
    F(pid, number, "")                                                                                       \
    F(policy, string,                                                                                        \
      "of the process, as /proc/PID/numa_maps shows it: \"default\", \"interleave:0-1\"; 0: not known")      \
    F(first_ns, number, "when it was first looked at: tells the image of a pid that executed another program") \
    F(last_ns, number, "")                                                                                   \
    F(peak_bytes, number, "resident, shared libraries and files included (VmHWM)")                           \
    F(anonymous_bytes, number, "resident and its own (RssAnon)")                                             \
    F(shared_bytes, number, "resident, of segments that it may share with others (RssShmem)")                \
    F(inherited_bytes, number,                                                                               \
      "of anonymous_bytes, what it had at the first look, if fork alone made it: its parent's")

#define PLUMB_FIELDS_AccessStride(F)                                                                         \
    F(pid, number, "")                                                                                       \
    F(flags, flags, "AlignFlags; a load and a store: the loop writes what it reads there")                   \
    F(address, address, "of the instruction")                                                                \
    F(width, number, "bytes")                                                                                \
    F(level, number, "of the cache")                                                                         \
    F(ways, number, "")                                                                                      \
    F(line_bytes, number, "")                                                                                \
    F(sets, number, "")                                                                                      \
    F(sets_used, number, "by the lines of one walk")                                                         \
    F(samples, number, "of the instruction")                                                                 \
    F(time_ns, number, "what they stand for")                                                                \
    F(moved_samples, number, "of them, with this stride")                                                    \
    F(moved_time_ns, number, "")                                                                             \
    F(stride, number, "bytes, without its sign")                                                             \
    F(walk, number, "accesses from the beginning of the innermost loop to its end, the most that were seen") \
    F(advance, number, "bytes, greatest common divisor of the distances between walks; 0: they are the same")\
    F(lowest_address, address, "of those sampled")                                                           \
    F(highest_address, address, "")                                                                          \
    F(last_address, address, "")                                                                             \
    F(padded_stride, number, "bytes")                                                                        \
    F(seen_ps, number, "of one access as timed, 0: not measured")                                            \
    F(padded_ps, number, "")                                                                                 \
    F(first_ns, number, "of the first sample: tells the image of a pid that executed another program")       \
    F(last_ns, number, "of the sample at last_address")

#define PLUMB_FIELDS_MemoryStream(F)                                                                         \
    F(pid, number, "")                                                                                       \
    F(loop, number, "the same for all streams of one loop; private to the file")                             \
    F(loop_begin, address, "address of the loop's first instruction")                                        \
    F(loop_end, address, "of its last one")                                                                  \
    F(instruction, address, "address, of the access in front")                                               \
    F(flags, flags, "AlignFlags, of all accesses of the stream together")                                    \
    F(width, number, "bytes")                                                                                \
    F(past_caches, number, "1: non-temporal stores, which need not read what they overwrite")                \
    F(round_bytes, number, "from one round of the loop to the next")                                         \
    F(read_bytes, number, "from memory, of one round: lines that are stored to are read first")              \
    F(written_bytes, number, "to memory, of one round")                                                      \
    F(footprint_bytes, number, "of all threads, as samples fell")                                           \
    F(lowest_address, address, "")                                                                           \
    F(highest_address, address, "")                                                                          \
    F(last_address, address, "")                                                                             \
    F(samples, number, "of the loop, in bursts")                                                             \
    F(first_ns, number, "of these: tells the image of a pid that executed another program")                  \
    F(last_ns, number, "")

#define PLUMB_FIELDS_TrafficBurst(F)                                                                         \
    F(pid, number, "")                                                                                       \
    F(loop, number, "MemoryStream::loop")                                                                    \
    F(begin_ns, number, "")                                                                                  \
    F(end_ns, number, "")                                                                                    \
    F(threads_milli, number, "thousandths of a thread that were in the loop at once, on average")            \
    F(read_bytes_per_s, number, "from memory, all these threads together")                                   \
    F(written_bytes_per_s, number, "to memory")

#define PLUMB_FIELDS_BandwidthRoof(F)                                                                        \
    F(threads, number, "0: nothing could be measured")                                                       \
    F(loads, number, "arrays that are read")                                                                 \
    F(stores, number, "overwritten, each line of which is read first")                                       \
    F(updates, number, "read and written")                                                                   \
    F(past_caches, number, "overwritten with non-temporal stores")                                           \
    F(cpus, string, "of the threads, list format")                                                           \
    F(nodes, number, "memory nodes of these CPUs")                                                           \
    F(why_not, string, "measured, 0: it was")                                                                \
    F(bytes, number, "of all arrays")                                                                        \
    F(bytes_per_s, number, "median of several repetitions")                                                  \
    F(low_bytes_per_s, number, "lower quartile")                                                             \
    F(high_bytes_per_s, number, "upper quartile")

#define PLUMB_FIELDS_SharedLine(F)                                                                           \
    F(pid, number, "")                                                                                       \
    F(line_bytes, number, "")                                                                                \
    F(address, address, "")                                                                                  \
    F(samples, number, "of all threads")                                                                     \
    F(time_ns, number, "what they stand for")                                                                \
    F(pairs, number, "samples that followed another one")                                                    \
    F(handovers, number, "of them, by another thread on another CPU, whatever they do")                      \
    F(close_pairs, number, "samples that soon followed another one")                                         \
    F(close_handovers, number, "")                                                                           \
    F(same_handovers, number, "")                                                                            \
    F(other_handovers, number, "")                                                                           \
    F(same_slices, number, "of the process's time with several threads, a bit each: such handovers in it")   \
    F(other_slices, number, "")                                                                              \
    F(slice_ns, number, "the same for all lines of a process")                                               \
    F(threads, number, "that were seen there, about")                                                   \
    F(padding, padding, "")                                                                                  \
    F(first_ns, number, "of the first sample: tells the image of a pid that executed another program")

#define PLUMB_FIELDS_LineUse(F)                                                                              \
    F(pid, number, "")                                                                                       \
    F(path, node, "of its samples, 0: not known")                                                            \
    F(line, address, "SharedLine::address")                                                                  \
    F(instruction, address, "address")                                                                       \
    F(offset, number, "of the first byte in the line")                                                       \
    F(width, number, "bytes")                                                                                \
    F(flags, flags, "AlignFlags")                                                                            \
    F(code, bytes, "the instruction's bytes")                                                                \
    F(code_bytes, number, "")                                                                                \
    F(base_value, address, "of the base register of its operand, at the last sample")                        \
    F(samples, number, "")                                                                                   \
    F(time_ns, number, "what they stand for")                                                                \
    F(shared_ns, number, "of that, while other threads were about, and not in a loop that only waits for a value")\
    F(polled_ns, number, "of that, in such a loop")                                                          \
    F(same_handovers, number, "to it")                                                                       \
    F(other_handovers, number, "")                                                                           \
    F(first_ns, number, "")                                                                                  \
    F(last_ns, number, "")

#define PLUMB_FIELDS_LineTransfer(F)                                                                         \
    F(cpu, number, "")                                                                                       \
    F(other_cpu, number, "")                                                                                 \
    F(own_load_ps, number, "")                                                                               \
    F(contended_load_ps, number, "")                                                                         \
    F(own_store_ps, number, "")                                                                              \
    F(contended_store_ps, number, "")                                                                        \
    F(own_update_ps, number, "")                                                                             \
    F(contended_update_ps, number, "")                                                                       \
    F(own_locked_ps, number, "")                                                                             \
    F(contended_locked_ps, number, "")
