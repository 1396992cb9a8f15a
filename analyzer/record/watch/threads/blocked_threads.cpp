#include "record/watch/threads/blocked_threads.h"

#include "record/watch/threads/blocking_calls.h"
#include "record/watch/threads/overdue_sleeps.h"
#include "support/idle_share.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace plumb::record {

namespace {

constexpr uint64_t kShortest_ns = 10'000'000, kIdle_ns = 50'000'000;
// What looks may cost beyond their share: the first ones find out who holds the other ends of pipes and sockets. And how many
// times their share at any one time, with what was saved before.
constexpr uint64_t kHeadStart_ns = 5'000'000;
constexpr double kMostShares = 8;
constexpr size_t kMostKeptFiles = 256; // threads whose files stay open; further ones have theirs opened for each look
constexpr size_t kMostSites = 64; // of one thread at one path that differ in their object
constexpr uint32_t kContended = 2; // what the futex of a lock holds while somebody waits: Rust's, the C libraries', Go's own
constexpr uint64_t kOwnTime_ns = 1'000'000; // for which the recorder may have taken a thread's CPU to look at it

// What stands for descriptors of one kind where a site waits for too many of them: one pipe for each child, a socket a client.
std::string any_like(const std::string& descriptor) {
    if (descriptor.starts_with('/'))
        return descriptor.starts_with("/dev/") ? "/dev/*" : "/*";
    return descriptor.substr(0, descriptor.find(':') + 1);
}

bool sleeps(int call) { return call == SYS_nanosleep || call == SYS_clock_nanosleep; }

// CPython (from 3.11 on) sleeps until an absolute time whatever the script asks for.
bool is_python(const Process* process) {
    return process && process->executable.substr(process->executable.rfind('/') + 1).starts_with("python");
}

} // namespace

BlockedThreads::BlockedThreads(NodeTraceWriter& file, ProcessTable& processes, Profile& profile, std::string proc_root,
                               ThreadSwitchCounts* switches, double share, uint64_t most_bytes_each, uint32_t first_pid,
                               uint64_t begin_ns)
    : file_(file), processes_(processes), profile_(profile), switches_(switches), proc_root_(std::move(proc_root)),
      share_(share), most_bytes_each_(most_bytes_each), pipes_(proc_root_), holders_(file, most_bytes_each / 4),
      awaited_(file, most_bytes_each / 4),
      wall_(first_pid, begin_ns,
            [this](uint32_t tid, uint32_t pid, uint64_t time_ns) { return wall_of(tid, pid, time_ns); }),
      begin_ns_(begin_ns), previous_look_ns_(begin_ns), next_ns_(begin_ns + kShortest_ns / 2),
      interval_ns_(kShortest_ns) {}

void BlockedThreads::saw(uint32_t tid, trace::NodeId path, uint64_t time_ns) {
    const auto found = threads_.find(tid);
    if (found == threads_.end())
        return;
    Thread& thread = found->second;
    thread.sampled = {path, time_ns};
    if (time_ns <= looked_ns_)
        thread.before = thread.sampled;
    else if (thread.after.time_ns == 0)
        thread.after = thread.sampled;
}

BlockedThreads::Image& BlockedThreads::image_of(uint32_t pid) {
    Image& image = images_[pid];
    const Process* process = processes_.find(pid);
    if (process && image.generation != process->generation) {
        const uint64_t bytes = image.bytes; // the share is the process's, over all its programs
        image = Image{};
        image.generation = process->generation;
        image.start_ns = process->start_ns;
        image.bytes = bytes;
        for (auto& [tid, thread] : threads_)
            if (thread.pid == pid) {
                thread.site = nullptr;
                thread.sampled = thread.before = thread.after = {};
            }
        holders_.forget_places(pid);
        awaited_.forget_places(pid);
    }
    return image;
}

// The frame pointer of a blocked thread is not known. Compilers need it in few functions; a chain that comes to one of
// them ends there.
trace::NodeId BlockedThreads::path_of(uint32_t tid, const Thread& thread, uint64_t now_ns) {
    PerfRecord record;
    record.time_ns = now_ns;
    record.pid = thread.pid;
    record.tid = tid;
    record.address = thread.call.pc;
    std::array<uint64_t, kUserRegisterCount> registers{};
    registers[kUserIp] = thread.call.pc;
    registers[kUserSp] = thread.call.sp;
    record.registers = registers;
    record.register_abi = PERF_SAMPLE_REGS_ABI_64;
    record.stack = memory_.stack();
    return thread.call.pc == 0 || memory_.stack().empty() ? 0 : profile_.place(record);
}

// What the call's descriptor refers to ("/a/file", "pipe:[4711]", "pipe:/a/fifo"); empty: it has none.
std::string BlockedThreads::descriptor_of(uint32_t pid, const platform::TaskSyscall& call) const {
    if (!names_descriptor(call.number))
        return {};
    const std::string link = proc_root_ + "/" + std::to_string(pid) + "/fd/" + std::to_string(call.arguments[0]);
    return descriptor_name(AT_FDCWD, link.c_str());
}

trace::BlockedSite* BlockedThreads::site_at(uint32_t tid, Thread& thread, uint64_t now_ns) {
    memory_.read(thread.pid, thread.call);
    if (memory_.stack().empty())
        ++without_stack_;
    else
        ++with_stack_;
    const trace::NodeId path = path_of(tid, thread, now_ns);
    Image& image = image_of(thread.pid);
    const std::string descriptor = descriptor_of(thread.pid, thread.call);
    thread.of_file = descriptor.starts_with('/');
    thread.of_disk_file = thread.of_file && !descriptor.starts_with("/dev/");
    thread.pipe = descriptor.starts_with("pipe:") || descriptor.starts_with("socket:") ? descriptor : std::string();
    SiteKey key{tid, path, thread.call.number, thread.call.number == SYS_futex ? thread.call.arguments[0] : 0,
                descriptor.empty() ? 0 : file_.string(descriptor)};
    auto known = image.sites.find(key);
    if (known == image.sites.end()) {
        const auto from = image.sites.lower_bound({tid, path, key.system_call, 0, 0});
        size_t alike = 0;
        for (auto site = from; site != image.sites.end() && alike < kMostSites && site->first.tid == tid &&
                               site->first.path == path && site->first.system_call == key.system_call;
             ++site)
            ++alike;
        if (alike == kMostSites) {
            key.object = 0;
            key.descriptor = descriptor.empty() ? 0 : file_.string(any_like(descriptor));
        }
        known = image.sites.try_emplace(key, nullptr).first;
    }
    if (!known->second && image.bytes + sizeof(trace::BlockedSite) <= most_bytes_each_) {
        trace::BlockedSite begin{};
        begin.pid = thread.pid;
        begin.path = path;
        begin.system_call = thread.call.number;
        begin.descriptor = key.descriptor;
        begin.object = key.object;
        begin.first_ns = now_ns;
        known->second = file_.append(trace::RecordType::BlockedSite, tid, begin);
        image.bytes += sizeof begin;
    }
    return known->second;
}

// Of the lock that it waits for; 0: not known.
uint32_t BlockedThreads::holder_of(uint32_t tid, const Thread& thread) const {
    const uint32_t holder = thread.call.number == SYS_futex ? memory_.lock_holder() : 0;
    const auto found = threads_.find(holder);
    return holder != tid && found != threads_.end() && found->second.pid == thread.pid ? holder : 0;
}

// False: nothing is known about it.
bool BlockedThreads::read_call(Thread& thread) {
    const auto call = thread.files.call();
    if (!call) {
        if (errno == EACCES || errno == EPERM) {
            ++refused_;
            refusal_ = errno;
        }
        return false;
    }
    ++seen_;
    thread.call = *call;
    return true;
}

void BlockedThreads::look_at(uint32_t tid, Thread& thread, uint64_t now_ns) {
    const auto scheduling = thread.files.scheduling();
    const bool is_first = thread.looked_ns == 0;
    const uint64_t elapsed_ns = is_first ? 0 : now_ns - thread.looked_ns;
    thread.looked_ns = now_ns;
    thread.elapsed_ns = elapsed_ns;
    thread.ran_ns = thread.delayed_ns = 0;
    thread.state = ThreadMoment::State::unknown;
    thread.waits_for = 0;
    thread.peers = {};
    thread.has_changed = true;
    if (is_first)
        thread.first_ns = now_ns;
    if (!scheduling)
        return;
    // One that was blocked and was not put on a CPU since then still is.
    const bool stands_still = thread.site && !is_first && scheduling->slices == thread.last.slices &&
                              scheduling->run_ns == thread.last.run_ns;
    const uint64_t ran_ns = is_first ? 0 : scheduling->run_ns - thread.last.run_ns;
    const uint64_t delayed_ns = is_first ? 0 : scheduling->run_delay_ns - thread.last.run_delay_ns;
    thread.ran_ns = ran_ns;
    thread.delayed_ns = delayed_ns;
    thread.all_off_ns += elapsed_ns - std::min(elapsed_ns, ran_ns + delayed_ns);
    thread.last = *scheduling;
    if (!stands_still) {
        thread.site = nullptr;
        const bool computed = !is_first && ran_ns >= elapsed_ns - elapsed_ns / 16; // all the time
        if (!computed && !read_call(thread))
            return;
        if (computed || thread.call.running) {
            thread.has_changed = !computed;
            thread.state = ThreadMoment::State::runs;
            return;
        }
        thread.site = site_at(tid, thread, now_ns);
        if (!thread.site)
            return;
        update(thread.site->waits, thread.site->waits + 1);
        if (sleeps(thread.call.number))
            count_sleep(thread);
        if (has_length(thread.call.number))
            update(thread.site->bytes, thread.site->bytes + thread.call.arguments[2]);
    } else {
        thread.has_changed = false;
        if (thread.call.number == SYS_futex)
            memory_.read(thread.pid, thread.call); // a lock may have changed hands
    }
    ++looks_;
    update(thread.site->looks, thread.site->looks + 1);
    // A thread that is new began at some time since the look before.
    update(thread.site->time_ns, thread.site->time_ns + (is_first ? (now_ns - previous_look_ns_) / 2 : elapsed_ns));
    update(thread.site->last_ns, now_ns);
    judge_wait(tid, thread, now_ns);
}

// A new wait that is a sleep.
void BlockedThreads::count_sleep(Thread& thread) {
    trace::BlockedSite& site = *thread.site;
    const bool is_absolute = thread.call.number == SYS_clock_nanosleep && (thread.call.arguments[1] & TIMER_ABSTIME) != 0;
    thread.at_set_time = is_absolute && !is_python(processes_.find(thread.pid));
    const uint64_t asked_ns = is_absolute ? 0 : memory_.asked_ns();
    if (thread.at_set_time)
        update(site.at_set_time, site.at_set_time + 1);
    if (asked_ns != 0) {
        update(site.shortest_ask_ns, site.shortest_ask_ns == 0 ? asked_ns : std::min(site.shortest_ask_ns, asked_ns));
        update(site.longest_ask_ns, std::max(site.longest_ask_ns, asked_ns));
    }
}

// Whom a blocked thread waits for.
void BlockedThreads::judge_wait(uint32_t tid, Thread& thread, uint64_t now_ns) {
    using State = ThreadMoment::State;
    const platform::TaskSyscall& call = thread.call;
    switch (call.number) {
    case SYS_futex: {
        thread.waits_for = holder_of(tid, thread);
        // Whoever joins a thread waits on the word that holds its id until the kernel clears it.
        const uint32_t word = memory_.futex_word();
        const auto joined = word != 0 && word != tid && word == call.arguments[2] ? threads_.find(word) : threads_.end();
        const bool joins = thread.waits_for == 0 && joined != threads_.end() && joined->second.pid == thread.pid;
        thread.state = joins ? State::for_end : thread.waits_for != 0 ? State::for_thread : State::for_work;
        if (joins)
            thread.waits_for = word;
        break;
    }
    case SYS_wait4:
    case SYS_waitid: {
        const auto pid = static_cast<int32_t>(call.arguments[call.number == SYS_waitid ? 1 : 0]);
        const bool is_one = call.number == SYS_wait4 ? pid > 0 : call.arguments[0] == P_PID;
        thread.waits_for = is_one ? static_cast<uint32_t>(pid) : 0;
        thread.state = State::for_child;
        break;
    }
#ifdef SYS_vfork
    case SYS_vfork:
#endif
    case SYS_clone:
    case SYS_clone3:
        thread.state = State::for_child;
        break;
    default:
        thread.state = may_be_brought(call.number) ? State::for_input : State::for_device;
        if (thread.of_file) // a file or a terminal: nobody of the run
            thread.state = State::for_device;
        if (!thread.pipe.empty())
            thread.peers = pipes_.peers_of(thread.pid, thread.pipe, writes(call.number), processes_.living(), now_ns);
        if (thread.peers[0] != 0)
            thread.state = State::for_peer;
        break;
    }
}

trace::ThreadWall* BlockedThreads::wall_of(uint32_t tid, uint32_t pid, uint64_t now_ns) {
    Image& image = image_of(pid);
    trace::ThreadWall*& record = image.walls[tid];
    if (!record && image.bytes + sizeof(trace::ThreadWall) <= most_bytes_each_) {
        trace::ThreadWall begin{};
        begin.pid = pid;
        begin.first_ns = std::max(now_ns, image.start_ns); // the look may have been just before the process executed this program
        record = file_.append(trace::RecordType::ThreadWall, tid, begin);
        image.bytes += sizeof begin;
    }
    return record;
}

void BlockedThreads::remember_look(uint64_t now_ns) {
    latest_look_.clear();
    latest_look_.reserve(threads_.size());
    looked_ns_ = now_ns;
    if (switches_)
        switches_->mark(now_ns);
    for (auto& [tid, thread] : threads_) {
        const Process* process = processes_.find(thread.pid);
        const bool at_lock = thread.state == ThreadMoment::State::for_work && thread.call.number == SYS_futex &&
                             static_cast<uint32_t>(thread.call.arguments[2]) == kContended;
        const bool idles = tid != thread.pid && thread.site && !at_lock && may_idle(thread.state, thread.of_disk_file) &&
                           is_idle(static_cast<double>(std::min(thread.site->time_ns, thread.all_off_ns)),
                                   static_cast<double>(now_ns - thread.first_ns));
        LookedAt& entry = latest_look_.emplace_back();
        entry.moment = {tid, thread.pid, process ? process->parent_pid : 0, thread.state, thread.waits_for, idles, thread.peers, 0,
                        thread.state == ThreadMoment::State::for_device && sleeps(thread.call.number),
                        at_lock,
                        thread.state == ThreadMoment::State::for_device && sleeps(thread.call.number) && thread.at_set_time};
        entry.site = thread.site;
        entry.elapsed_ns = thread.elapsed_ns;
        entry.ran_ns = thread.ran_ns;
        entry.delayed_ns = thread.delayed_ns;
        entry.waits_at = thread.site && thread.call.number == SYS_futex ? thread.call.arguments[0] : 0;
        thread.before = thread.sampled;
        thread.after = {};
    }
}

// When the samples and switches of the time around the latest look have been taken.
void BlockedThreads::conclude_look() {
    if (looked_ns_ == 0)
        return;
    for (LookedAt& entry : latest_look_) {
        if (const auto thread = threads_.find(entry.moment.tid); thread != threads_.end()) {
            entry.before = thread->second.before;
            entry.after = thread->second.after;
        }
        entry.waits_from_ns = entry.waits_until_ns = looked_ns_;
        const auto stood = switches_ ? switches_->at_mark(entry.moment.tid) : std::nullopt;
        if (!stood)
            continue;
        entry.unblocked_ns = stood->unblocked_ns;
        if (stood->on)
            continue;
        if (!entry.site) {
            entry.is_woken = !stood->preempted;
            entry.lacks_cpu = stood->until_ns == 0 || stood->until_ns > looked_ns_ + kOwnTime_ns ||
                              (stood->preempted && stood->since_ns + kOwnTime_ns < looked_ns_);
        } else if (!stood->preempted) {
            entry.waits_from_ns = entry.blocked_ns = stood->since_ns;
            entry.waits_until_ns = std::max(looked_ns_, stood->until_ns);
        }
    }
    mark_overdue(latest_look_);
    holders_.write(looked_ns_, latest_look_);
    std::vector<LookedAtPair> pairs = awaited_.write(looked_ns_, latest_look_);
    wall_.follow(looked_ns_, std::move(latest_look_), std::move(pairs));
    latest_look_.clear();
    looked_ns_ = 0;
}

void BlockedThreads::look(uint64_t now_ns, const std::vector<ThreadMonitor::Task>& tasks) {
    const uint64_t cpu_before_ns = thread_cpu_ns();
    conclude_look();
    ++round_;
    for (const ThreadMonitor::Task& task : tasks) {
        Thread& thread = threads_[task.tid];
        if (thread.pid != task.pid) { // new, or its number was given out again
            const bool keep = kept_files_ < kMostKeptFiles;
            kept_files_ += keep;
            kept_files_ -= thread.files.keeps();
            thread = Thread{};
            thread.pid = task.pid;
            thread.files = TaskFiles(proc_root_, task.pid, task.tid, keep);
        }
        thread.round = round_;
    }
    std::erase_if(threads_, [&](const auto& entry) {
        const bool gone = entry.second.round != round_;
        kept_files_ -= gone && entry.second.files.keeps();
        return gone;
    });
    bool any_changed = false;
    for (const ThreadMonitor::Task& task : tasks) {
        Thread& thread = threads_.at(task.tid);
        look_at(task.tid, thread, now_ns);
        any_changed |= thread.has_changed;
    }
    remember_look(now_ns);
    previous_look_ns_ = now_ns;
    if (refused_ > 0 && seen_ == 0 && round_ > 4) {
        next_ns_ = UINT64_MAX;
        return;
    }
    const uint64_t cost_ns = thread_cpu_ns() - cpu_before_ns;
    interval_ns_ = any_changed ? kShortest_ns : std::min(interval_ns_ + interval_ns_ / 2, kIdle_ns);
    spent_ns_ += cost_ns;
    const auto affordable_ns = static_cast<uint64_t>(static_cast<double>(cost_ns) / (share_ * kMostShares));
    const uint64_t interval_ns = std::max(interval_ns_, affordable_ns);
    const double over_ns = spent_ns_ > kHeadStart_ns ? static_cast<double>(spent_ns_ - kHeadStart_ns) / share_ : 0;
    // Between a half and three halves of it, by chance: programs that wake up at regular times must not hide from it.
    next_ns_ = std::max(now_ns + interval_ns / 2, begin_ns_ + static_cast<uint64_t>(over_ns)) + random_.next() % (interval_ns + 1);
}

void BlockedThreads::forget(uint32_t pid) {
    images_.erase(pid);
    holders_.forget(pid);
    awaited_.forget(pid);
}

void BlockedThreads::write_evidence() {
    conclude_look();
    wall_.settle();
    if (refused_ > 0 && seen_ == 0)
        file_.evidence("blocked-threads", trace::EvidenceState::missing,
                       std::string("what blocked threads wait for is not known: /proc/PID/task/TID/syscall: ") +
                           std::strerror(refusal_),
                       "allow plumb to trace its own children (ptrace access; containers: --cap-add SYS_PTRACE)");
    else if (refused_ > 0)
        file_.evidence("blocked-threads", trace::EvidenceState::limited,
                       "the threads of some processes cannot be examined (other privileges, or not dumpable)",
                       "");
    else if (without_stack_ > 0 && with_stack_ == 0)
        file_.evidence("blocked-threads", trace::EvidenceState::limited,
                       "the stacks of blocked threads cannot be read: the system call in which they wait is known, the line and "
                       "the holder of a lock are not",
                       "allow the system call process_vm_readv, or access to /proc/PID/mem");
    else if (seen_ > 0)
        file_.evidence("blocked-threads", trace::EvidenceState::ok, "", "");
}

} // namespace plumb::record
