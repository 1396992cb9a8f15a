// Rewritten instructions do what they did, for every register and flag, wherever a signal finds them.
#include "platform/code/alignment_flag.h"
#include "platform/code/single_step.h"
#include "record/align/rewriting/rewrite.h"
#include "rewrite_sites.h"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstring>
#include <map>
#include <random>
#include <signal.h>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <ucontext.h>
#include <unistd.h>
#include <vector>

#if defined(__x86_64__)

using namespace plumb::shim;
using plumb::trace::AlignCount;

namespace {

constexpr uint32_t kTable = 256;
thread_local AlignCount* thread_table[kTable];
thread_local AlignCount** thread_counts = nullptr;
std::map<uint64_t, uint32_t> ids;

MemoryInstruction decode_at(const uint8_t* address) {
    REQUIRE(load_decoder(nullptr));
    MemoryInstruction decoded;
    REQUIRE(decode_memory_instruction(address, 15, &decoded));
    return decoded;
}

uint32_t id_of(const uint8_t* address) {
    return ids.emplace(reinterpret_cast<uint64_t>(address), static_cast<uint32_t>(ids.size() + 1)).first->second;
}

AlignCount* counters(const uint8_t* address) {
    auto& entry = thread_table[id_of(address)];
    if (!entry) {
        entry = new AlignCount{};
        entry->lowest_address = ~uint64_t{0};
    }
    return entry;
}

// Instructions as they were before anything was rewritten.
const MemoryInstruction& decoded_once(const uint8_t* address, const uint8_t** code) {
    struct Known {
        MemoryInstruction decoded;
        uint8_t code[16];
    };
    static std::map<const uint8_t*, Known> known;
    auto found = known.find(address);
    if (found == known.end()) {
        Known now{decode_at(address), {}};
        memcpy(now.code, address, now.decoded.length);
        found = known.emplace(address, now).first;
    }
    *code = found->second.code;
    return found->second.decoded;
}

RewriteResult rewrite(const uint8_t* address, RewrittenSite* rewritten = nullptr) {
    REQUIRE(prepare_rewriting(&thread_counts));
    thread_counts = thread_table;
    RewrittenSite ignored;
    const uint8_t* code;
    const MemoryInstruction& decoded = decoded_once(address, &code);
    return rewrite_site(reinterpret_cast<uint64_t>(address), code, decoded, id_of(address),
                        rewritten ? rewritten : &ignored);
}

// Installs a handler for the time of a test; it starts with a clear alignment flag.
class Handler {
  public:
    Handler(int number, void (*handler)(int, siginfo_t*, void*)) : number_(number) {
        struct sigaction action = {};
        action.sa_sigaction = handler;
        action.sa_flags = SA_SIGINFO | SA_NODEFER;
        sigaction(number, &action, &former_);
    }
    ~Handler() { sigaction(number_, &former_, nullptr); }
    Handler(const Handler&) = delete;
    Handler& operator=(const Handler&) = delete;

  private:
    int number_;
    struct sigaction former_;
};

alignas(4096) uint8_t memory[3 * 4096], memory_before[sizeof memory], memory_bare[sizeof memory];
uint8_t static_before[sizeof rewrite_static], static_bare[sizeof rewrite_static];

// Registers that point into `memory`, the rest at random.
void choose_state(std::mt19937_64& random, uint64_t offset) {
    for (auto& value : machine_before.general)
        value = random();
    machine_before.general[7] = reinterpret_cast<uint64_t>(memory) + 4096 + offset;
    machine_before.general[6] = random() % 16;
    machine_before.general[8] = random() % 16;
    machine_before.general[1] = random() % 64;
    constexpr uint64_t kArithmetic = 0x8d5; // CF PF AF ZF SF OF
    machine_before.flags = 0x202 | (random() & kArithmetic);
    for (auto& vector : machine_before.vector)
        for (auto& half : vector) {
            const double value = static_cast<double>(static_cast<int64_t>(random() % 2000000)) / 7 - 1e5;
            memcpy(&half, &value, sizeof half);
        }
    for (auto& word : machine_before.stack)
        word = random();
    for (auto& word : machine_before.red_zone)
        word = random();
    for (uint8_t& byte : memory_before)
        byte = static_cast<uint8_t>(random() % 64); // as doubles: small, never signalling
    for (uint8_t& byte : static_before)
        byte = static_cast<uint8_t>(random());
}

void run_at(const uint8_t* address, bool armed) {
    memcpy(memory, memory_before, sizeof memory);
    memcpy(rewrite_static, static_before, sizeof rewrite_static);
    machine_target = reinterpret_cast<uint64_t>(address);
    machine_before.flags = (machine_before.flags & ~kAlignmentFlag) | (armed ? kAlignmentFlag : 0);
    run_machine();
}

bool same_as(const MachineState& bare, bool armed) {
    MachineState expected = bare;
    expected.flags = (bare.flags & ~kAlignmentFlag) | (armed ? kAlignmentFlag : 0);
    return memcmp(&expected, &machine_after, sizeof expected) == 0 &&
           memcmp(memory, memory_bare, sizeof memory) == 0 &&
           memcmp(rewrite_static, static_bare, sizeof rewrite_static) == 0;
}

uint64_t address_of(const MemoryInstruction& decoded, const uint8_t* site) {
    static constexpr int encodings[] = {0, 2, 1, 3, 6, 7, 5, 4, 8, 9, 10, 11, 12, 13, 14, 15};
    Registers registers;
    for (int i = 0; i < 16; ++i)
        registers[i] = machine_before.general[encodings[i]];
    registers[kStackPointer] = machine_after.general[4];
    registers[kNextInstruction] = reinterpret_cast<uint64_t>(site) + decoded.length;
    return operand_address(decoded.operands[0], registers, 0);
}

bool can_count(const MemoryInstruction& decoded, uint64_t address) {
    const uint16_t width = decoded.operands[0].width;
    return is_trapping_width(width) && address % (width == 10 ? 8 : std::min<uint16_t>(width, 16)) != 0;
}

bool would_split_a_lock(const MemoryInstruction& decoded, uint64_t address) {
    return decoded.locked && address % 64 + decoded.operands[0].width > 64;
}

// For threads without counters: what the trap handler does.
std::atomic<int> bus_errors{0};
uint64_t trapped_site;
void handle_bus_error(int, siginfo_t*, void* context) {
    clear_alignment_flag();
    auto* machine = &static_cast<ucontext_t*>(context)->uc_mcontext;
    ++bus_errors;
    leave_rewritten_code(context);
    trapped_site = static_cast<uint64_t>(machine->gregs[REG_RIP]);
    machine->gregs[REG_RIP] = static_cast<greg_t>(step_over_rewritten(trapped_site));
    machine->gregs[REG_EFL] &= ~static_cast<greg_t>(kAlignmentFlag);
}

// Single steps until `steps_left` is used up inside rewritten code, then makes the context natural there.
int steps_left, steps_inside;
bool left_there;
uint64_t left_to;
void handle_step(int, siginfo_t*, void* context) {
    clear_alignment_flag();
    auto* machine = &static_cast<ucontext_t*>(context)->uc_mcontext;
    ucontext_t copy = *static_cast<ucontext_t*>(context);
    if (left_there)
        return;
    alignas(16) static AlignCount saved[kTable];
    for (uint32_t i = 0; i < kTable; ++i)
        if (thread_table[i])
            saved[i] = *thread_table[i];
    const bool inside = leave_rewritten_code(&copy);
    for (uint32_t i = 0; i < kTable; ++i)
        if (thread_table[i])
            *thread_table[i] = saved[i];
    if (!inside)
        return;
    ++steps_inside;
    if (steps_left-- > 0)
        return;
    leave_rewritten_code(context);
    left_to = static_cast<uint64_t>(machine->gregs[REG_RIP]);
    machine->gregs[REG_EFL] &= ~static_cast<greg_t>(kSingleStepFlag);
    left_there = true;
}

} // namespace

TEST_CASE("rewritten instructions have the effect that they had") {
    std::mt19937_64 random(4711);
    int rewritten = 0, all = 0;
    for (const RewriteSiteOfTest* site = rewrite_sites; site != rewrite_sites_end; ++site) {
        INFO(site->text);
        const MemoryInstruction decoded = decode_at(site->address);
        ++all;
        struct Trial {
            uint64_t seed;
            uint64_t offset;
            MachineState after;
        };
        std::vector<Trial> trials;
        for (uint64_t trial = 0; trial < 60; ++trial)
            trials.push_back({random(), trial < 30 ? trial : trial % 5 ? random() % 1024 : 4096 - 40 + trial % 32, {}});
        std::vector<std::vector<uint8_t>> memories, statics;
        for (Trial& trial : trials) {
            std::mt19937_64 seeded(trial.seed);
            choose_state(seeded, trial.offset);
            run_at(site->address, false); // called from this very frame, as below: the stack pointer is compared
            trial.after = machine_after;
            memories.emplace_back(memory, memory + sizeof memory);
            statics.emplace_back(rewrite_static, rewrite_static + sizeof rewrite_static);
        }
        const RewriteResult result = rewrite(site->address);
        if (decoded.operands[0].width == 1) {
            CHECK(result == RewriteResult::instruction);
            continue;
        }
        INFO(describe(result));
        REQUIRE(result == RewriteResult::done);
        ++rewritten;
        AlignCount* count = counters(site->address);
        for (size_t i = 0; i < trials.size(); ++i) {
            std::mt19937_64 seeded(trials[i].seed);
            choose_state(seeded, trials[i].offset);
            memcpy(memory_bare, memories[i].data(), sizeof memory_bare);
            memcpy(static_bare, statics[i].data(), sizeof static_bare);
            run_at(site->address, false);
            const bool same_unarmed = same_as(trials[i].after, false);
            CHECK(same_unarmed);
            const uint64_t address = address_of(decoded, site->address);
            if (would_split_a_lock(decoded, address) && i % 8)
                continue; // these are slow
            const AlignCount before = *count;
            run_at(site->address, true);
            const bool same_armed = same_as(trials[i].after, true);
            CHECK(same_armed);
            const uint64_t expected = can_count(decoded, address);
            CHECK(count->hits - before.hits == expected);
            CHECK(count->residues[address % 64] - before.residues[address % 64] == expected);
            CHECK(count->page_crossings - before.page_crossings ==
                  (expected && address % 4096 + decoded.operands[0].width > 4096));
            if (expected)
                CHECK((count->lowest_address <= address && count->highest_address >= address));
        }
    }
    CHECK(rewritten >= all - 1);
}

TEST_CASE("wherever a signal interrupts rewritten code, the program stands in front of the instruction or behind it") {
    std::mt19937_64 random(99);
    for (const RewriteSiteOfTest* site = rewrite_sites; site != rewrite_sites_end; ++site) {
        INFO(site->text);
        const RewriteResult result = rewrite(site->address);
        if (result == RewriteResult::instruction)
            continue;
        REQUIRE(result == RewriteResult::done);
        const uint8_t* code;
        const MemoryInstruction decoded = decoded_once(site->address, &code);
        AlignCount* count = counters(site->address);
        for (const uint64_t offset : {uint64_t{1}, uint64_t{8}, uint64_t{4096 - 11}})
            for (const bool armed : {true, false}) {
                choose_state(random, offset);
                run_at(site->address, false);
                const uint64_t address = address_of(decoded, site->address);
                if (would_split_a_lock(decoded, address))
                    continue;
                const MachineState bare = machine_after;
                memcpy(memory_bare, memory, sizeof memory);
                memcpy(static_bare, rewrite_static, sizeof static_bare);
                Handler stepping(SIGTRAP, handle_step);
                for (int steps = 0;; ++steps) {
                    steps_left = steps;
                    left_there = false;
                    left_to = 0;
                    const AlignCount before = *count;
                    machine_before.flags |= kSingleStepFlag;
                    run_at(site->address, armed);
                    machine_before.flags &= ~kSingleStepFlag;
                    machine_after.flags &= ~kSingleStepFlag;
                    if (!left_there)
                        break;
                    INFO("left after " << steps << " steps, offset " << offset << ", armed " << armed);
                    const bool before_or_behind =
                        left_to == reinterpret_cast<uint64_t>(site->address) ||
                        left_to == reinterpret_cast<uint64_t>(site->address) + decoded.length;
                    CHECK(before_or_behind);
                    const bool same = same_as(bare, armed);
                    CHECK(same);
                    const uint64_t expected = armed && can_count(decoded, address);
                    CHECK(count->hits - before.hits == expected);
                    CHECK(count->residues[address % 64] - before.residues[address % 64] == expected);
                    CHECK(count->page_crossings - before.page_crossings ==
                          (expected && address % 4096 + decoded.operands[0].width > 4096));
                    REQUIRE(steps < 100);
                }
            }
    }
    CHECK(steps_inside > 1000);
}

TEST_CASE("a thread without counters of a rewritten site traps at it as before") {
    const RewriteSiteOfTest* site = rewrite_sites; // movq 3(%rdi), %rax
    REQUIRE(rewrite(site->address) == RewriteResult::done);
    counters(site->address);
    Handler handler(SIGBUS, handle_bus_error);
    std::mt19937_64 random(5);
    choose_state(random, 0);
    run_at(site->address, false);
    const MachineState bare = machine_after;
    memcpy(memory_bare, memory, sizeof memory);
    memcpy(static_bare, rewrite_static, sizeof static_bare);
    AlignCount*& entry = thread_table[id_of(site->address)];
    AlignCount* kept = entry;
    const uint64_t hits = kept->hits;
    for (const bool with_table : {true, false}) {
        entry = nullptr;
        thread_counts = with_table ? thread_table : nullptr;
        bus_errors = 0;
        run_at(site->address, true);
        const bool same = same_as(bare, true);
        CHECK(same);
        CHECK(bus_errors == 1);
        CHECK(trapped_site == reinterpret_cast<uint64_t>(site->address));
    }
    entry = kept;
    thread_counts = thread_table;
    CHECK(kept->hits == hits);
}

TEST_CASE("neighbours share bytes, in either order, and can be taken back in the other") {
    alignas(8) uint8_t bytes[32] = {};
    const double values[] = {1.25, 2.5};
    memcpy(bytes + 1, values, sizeof values);
    const auto* unaligned = reinterpret_cast<const double*>(bytes + 1);
    const auto sum_armed = [&] {
        set_alignment_flag();
        const double sum = two_neighbours(unaligned);
        clear_alignment_flag();
        return sum;
    };
    for (const bool first_first : {true, false}) {
        const uint8_t* one = first_first ? first_neighbour : second_neighbour;
        const uint8_t* other = first_first ? second_neighbour : first_neighbour;
        AlignCount* count_one = counters(one);
        AlignCount* count_other = counters(other);
        REQUIRE(rewrite(one) == RewriteResult::done);
        REQUIRE(rewrite(other) == RewriteResult::done);
        const AlignCount before_one = *count_one, before_other = *count_other;
        CHECK(sum_armed() == 3.75);
        CHECK(count_one->hits == before_one.hits + 1);
        CHECK(count_other->hits == before_other.hits + 1);
        const auto at = [](const uint8_t* site) { return reinterpret_cast<uint64_t>(site); };
        // The first relies on bytes of the second, unless these are the ones that the second left alone.
        if (restore_site(at(second_neighbour))) {
            CHECK(first_first);
            CHECK(restore_site(at(first_neighbour)));
        } else {
            CHECK_FALSE(first_first);
            CHECK(restore_site(at(first_neighbour)));
            CHECK(restore_site(at(second_neighbour)));
        }
        CHECK(two_neighbours(unaligned) == 3.75);
        const uint8_t* code;
        CHECK(memcmp(one, (decoded_once(one, &code), code), 4) == 0);
    }
}

namespace {
std::atomic<int> breakpoints{0};
void handle_breakpoint(int, siginfo_t*, void* context) {
    clear_alignment_flag();
    ++breakpoints;
    if (!pass_patch_breakpoint(context))
        _exit(99);
}
} // namespace

TEST_CASE("code is rewritten and taken back while threads execute it, and no count is lost") {
    Handler traps(SIGTRAP, handle_breakpoint);
    alignas(8) static uint8_t bytes[16] = {0, 7};
    std::atomic<bool> stop{false};
    std::atomic<uint64_t> wrong{0}, loops{0};
    REQUIRE(prepare_rewriting(&thread_counts));
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i)
        threads.emplace_back([&] {
            while (!stop.load(std::memory_order_relaxed)) {
                if (add_in_a_loop(bytes + 1, 1000) != 7000)
                    ++wrong;
                ++loops;
            }
        });
    for (int i = 0; i < 150; ++i) {
        REQUIRE(rewrite(loop_load) == RewriteResult::done);
        const uint64_t seen = loops;
        while (loops < seen + 2)
            sched_yield();
        REQUIRE(restore_site(reinterpret_cast<uint64_t>(loop_load)));
    }
    stop = true;
    for (auto& thread : threads)
        thread.join();
    CHECK(wrong == 0);

    REQUIRE(rewrite(loop_load) == RewriteResult::done);
    const uint32_t id = id_of(loop_load);
    std::atomic<uint64_t> counted{0};
    threads.clear();
    for (int i = 0; i < 8; ++i)
        threads.emplace_back([&] {
            AlignCount mine = {};
            thread_table[id] = &mine;
            thread_counts = thread_table;
            set_alignment_flag();
            add_in_a_loop(bytes + 1, 20000);
            clear_alignment_flag();
            counted += mine.hits == mine.residues[reinterpret_cast<uint64_t>(bytes + 1) % 64] ? mine.hits : 0;
        });
    for (auto& thread : threads)
        thread.join();
    CHECK(counted == 160000);
    CHECK(restore_site(reinterpret_cast<uint64_t>(loop_load)));
}

TEST_CASE("a forked child has the rewritten code of its parent, and rewrites on its own") {
    REQUIRE(rewrite(loop_load) == RewriteResult::done);
    counters(loop_load);
    alignas(8) static uint8_t bytes[16] = {0, 9};
    const pid_t child = fork();
    if (child == 0) {
        rewriting_after_fork();
        bool right = add_in_a_loop(bytes + 1, 10) == 90;
        right = right && restore_site(reinterpret_cast<uint64_t>(loop_load));
        right = right && add_in_a_loop(bytes + 1, 10) == 90;
        right = right && rewrite(loop_load) == RewriteResult::done;
        right = right && add_in_a_loop(bytes + 1, 10) == 90;
        _exit(right ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(status == 0);
    CHECK(restore_site(reinterpret_cast<uint64_t>(loop_load)));
}

TEST_CASE("what is not known to be the same elsewhere is refused") {
    const std::vector<std::pair<std::string, std::vector<uint8_t>>> refused = {
        {"push (%rdi)", {0xff, 0x37, 0x90, 0x90}},
        {"pop (%rdi)", {0x8f, 0x07, 0x90, 0x90}},
        {"push %rax", {0x50, 0x90, 0x90, 0x90}},
        {"call *(%rdi)", {0xff, 0x17, 0x90, 0x90}},
        {"ret", {0xc3, 0x90, 0x90, 0x90}},
        {"rep movsq", {0xf3, 0x48, 0xa5, 0x90}},
        {"stosq", {0x48, 0xab, 0x90, 0x90}},
        {"mov (%rdi), %rsp", {0x48, 0x8b, 0x27, 0x90}},
        {"mov %fs:(%rdi), %rax", {0x64, 0x48, 0x8b, 0x07}},
        {"mov (%edi), %eax", {0x67, 0x8b, 0x07, 0x90}},
        {"bts %rax, (%rdi)", {0x48, 0x0f, 0xab, 0x07}},
        {"fnstenv (%rdi)", {0xd9, 0x37, 0x90, 0x90}},
        {"fxsave (%rdi)", {0x0f, 0xae, 0x07, 0x90}},
        {"leave", {0xc9, 0x90, 0x90, 0x90}},
        {"mov (%rdi), %fs", {0x8e, 0x27, 0x90, 0x90}},
    };
    REQUIRE(load_decoder(nullptr));
    for (const auto& [text, code] : refused) {
        INFO(text);
        std::vector<uint8_t> padded = code;
        padded.resize(16, 0x90);
        MemoryInstruction decoded;
        REQUIRE(decode_memory_instruction(padded.data(), 15, &decoded));
        MovableCode movable;
        const bool accepted = make_movable(padded.data(), 0x400000, decoded, &movable) &&
                              is_trapping_width(decoded.operands[0].width);
        CHECK_FALSE(accepted);
    }
}

TEST_CASE("generated and writable code is refused") {
    auto* page = static_cast<uint8_t*>(
        mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    REQUIRE(page != MAP_FAILED);
    const uint8_t load[] = {0x48, 0x8b, 0x87, 1, 0, 0, 0, 0xc3}; // mov 1(%rdi), %rax; ret
    memcpy(page, load, sizeof load);
    CHECK(rewrite(page) == RewriteResult::code);
    CHECK(memcmp(page, load, sizeof load) == 0);
    munmap(page, 4096);
}

#endif
