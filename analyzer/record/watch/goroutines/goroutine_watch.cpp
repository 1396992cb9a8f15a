#include "record/watch/goroutines/goroutine_watch.h"

#include "platform/process_memory.h"
#include "symbols/elf/elf_image.h"

#include <algorithm>
#include <array>
#include <sched.h>

namespace plumb::record {

namespace {

constexpr uint64_t kShortestLook_ns = 10'000'000, kLookSpread_ns = 20'000'000;
constexpr size_t kMostStacks = 64; // that are read at one look; the others wait where these do
constexpr size_t kGoStackBytes = 2048;

// Since Go 1.21 a lock has a reason of its own; before, all that waits for a semaphore of the runtime has one.
bool is_held_up(const std::string& reason) {
    return reason.starts_with("sync.Mutex") || reason.starts_with("sync.RWMutex") || reason == "semacquire" || reason == "chan send";
}

uint32_t allowed_cpu_count(uint32_t pid) {
    cpu_set_t cpus;
    return sched_getaffinity(static_cast<pid_t>(pid), sizeof cpus, &cpus) == 0 ? static_cast<uint32_t>(CPU_COUNT(&cpus)) : UINT32_MAX;
}

} // namespace

void GoroutineWatch::look(uint64_t now_ns) {
    if (now_ns < next_ns_)
        return;
    uint64_t once_ns = 0; // for what is not done again
    for (const uint32_t pid : processes_.living()) {
        Process* const process = processes_.find(pid);
        if (!process || !process->modules_written) // not sampled: it does not run
            continue;
        Image& image = images_[pid];
        if (image.generation != process->generation) {
            const uint64_t bytes = image.bytes; // the share is the process's, over all its programs
            image = Image{};
            image.generation = process->generation;
            image.bytes = bytes;
        }
        if (!image.was_asked) {
            const uint64_t begin_ns = monotonic_ns();
            find_runtime(*process, image);
            once_ns += monotonic_ns() - begin_ns;
        }
        if (image.memory)
            look_at(*process, image, now_ns);
    }
    const uint64_t end_ns = monotonic_ns(), cost_ns = end_ns - std::min(end_ns, now_ns + once_ns);
    const auto rest_ns = static_cast<uint64_t>(static_cast<double>(cost_ns) / share_);
    next_ns_ = now_ns + std::max(kShortestLook_ns, rest_ns) + random_.next() % kLookSpread_ns;
}

void GoroutineWatch::forget(uint32_t pid) { images_.erase(pid); }

void GoroutineWatch::find_runtime(const Process& process, Image& image) {
    image.was_asked = true;
    const auto file = symbols::ElfImage::open(proc_root_ + "/" + std::to_string(process.pid) + "/exe");
    if (!file || !symbols::is_go(*file))
        return;
    const auto runtime = symbols::find_go_runtime(*file);
    if (!runtime) {
        file_.evidence("goroutines", trace::EvidenceState::missing,
                       "what goroutines wait for is not known: the program was linked without symbols or debug info",
                       "go build without -ldflags \"-s -w\"", process.pid);
        return;
    }
    for (const auto& [start, module] : process.modules)
        if (module.path == process.executable)
            if (const auto address = file->address_of(module.file_offset)) {
                image.memory.emplace(process.pid, *runtime, start - *address);
                file_.evidence("goroutines", trace::EvidenceState::ok, "", "", process.pid);
                return;
            }
}

const std::string& GoroutineWatch::words_of(Image& image, uint8_t reason) const {
    const auto [known, is_new] = image.reasons.try_emplace(reason);
    if (is_new)
        known->second = image.memory->reason_words(reason);
    return known->second;
}

void GoroutineWatch::look_at(Process& process, Image& image, uint64_t now_ns) {
    const uint64_t elapsed_ns = image.looked_ns == 0 ? 0 : now_ns - image.looked_ns;
    image.looked_ns = now_ns;
    if (!image.memory->read(state_, random_.next()) || elapsed_ns == 0)
        return;
    state_.processors = std::min(state_.processors, allowed_cpu_count(process.pid));
    count_look(process, image, now_ns, elapsed_ns);
    held_up_.clear();
    for (const WaitingGoroutine& waiting : state_.waiting)
        if (is_held_up(words_of(image, waiting.reason)))
            held_up_.push_back(waiting);
    if (held_up_.empty())
        return;
    const double scale = state_.scale();
    const double runnable = std::max(1.0, static_cast<double>(state_.runnable) * scale);
    const double idle = std::max(0.0, static_cast<double>(state_.processors) - runnable);
    const double could_run = std::min(idle, static_cast<double>(held_up_.size()) * scale);
    // What these and the others do now one after another, they would do in so much less time side by side.
    const double saved_ns = static_cast<double>(elapsed_ns) * could_run / (runnable + could_run);
    const size_t read = std::min(held_up_.size(), kMostStacks);
    const double each = static_cast<double>(held_up_.size()) * scale / static_cast<double>(read);
    const size_t first = random_.next() % held_up_.size();
    for (size_t i = 0; i < read; ++i)
        count_wait(process, image, held_up_[(first + i) % held_up_.size()], now_ns,
                   static_cast<uint64_t>(each * static_cast<double>(elapsed_ns)),
                   static_cast<uint64_t>(saved_ns / static_cast<double>(read)));
}

trace::NodeId GoroutineWatch::path_of(const Process& process, const WaitingGoroutine& waiting, uint64_t now_ns) {
    stack_.resize(std::min<uint64_t>(kGoStackBytes, waiting.stack_end - waiting.sp));
    const platform::MemoryPiece piece{waiting.sp, stack_.data(), stack_.size()};
    if (platform::read_process_memory(process.pid, {&piece, 1}) != stack_.size())
        return 0;
    PerfRecord record;
    record.time_ns = now_ns;
    record.pid = record.tid = process.pid;
    record.address = waiting.pc;
    std::array<uint64_t, kUserRegisterCount> registers{};
    registers[kUserIp] = waiting.pc;
    registers[kUserSp] = waiting.sp;
    registers[kUserBp] = waiting.frame;
    record.registers = registers;
    record.register_abi = PERF_SAMPLE_REGS_ABI_64;
    record.stack = stack_;
    return profile_.place(record);
}

void GoroutineWatch::count_look(const Process& process, Image& image, uint64_t now_ns, uint64_t elapsed_ns) {
    if (!image.looks) {
        if (image.bytes + sizeof(trace::GoroutineLooks) > most_bytes_each_)
            return file_.count_dropped();
        trace::GoroutineLooks begin{};
        begin.pid = process.pid;
        begin.first_ns = now_ns;
        image.looks = file_.append(trace::RecordType::GoroutineLooks, process.pid, begin);
        image.bytes += sizeof begin;
        if (!image.looks)
            return;
    }
    trace::GoroutineLooks& looks = *image.looks;
    update(looks.processors, state_.processors);
    update(looks.looks, looks.looks + 1);
    update(looks.time_ns, looks.time_ns + elapsed_ns);
    const double runnable = static_cast<double>(state_.runnable) * state_.scale();
    update(looks.runnable_ns, looks.runnable_ns + static_cast<uint64_t>(runnable * static_cast<double>(elapsed_ns)));
    update(looks.most, std::max(looks.most, state_.all));
    update(looks.last_ns, now_ns);
}

void GoroutineWatch::count_wait(const Process& process, Image& image, const WaitingGoroutine& waiting, uint64_t now_ns,
                                uint64_t time_ns, uint64_t saved_ns) {
    const trace::NodeId path = path_of(process, waiting, now_ns);
    trace::GoroutineWait*& wait = image.waits[{path, waiting.reason}];
    if (!wait) {
        if (image.bytes + sizeof(trace::GoroutineWait) > most_bytes_each_)
            return file_.count_dropped();
        trace::GoroutineWait begin{};
        begin.pid = process.pid;
        begin.path = path;
        begin.reason = file_.string(words_of(image, waiting.reason));
        begin.first_ns = now_ns;
        wait = file_.append(trace::RecordType::GoroutineWait, process.pid, begin);
        image.bytes += sizeof begin;
        if (!wait)
            return;
    }
    update(wait->looks, wait->looks + 1);
    update(wait->time_ns, wait->time_ns + time_ns);
    update(wait->saved_ns, wait->saved_ns + saved_ns);
    update(wait->last_ns, now_ns);
}

} // namespace plumb::record
