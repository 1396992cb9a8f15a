// Decoding of what perf rings deliver, on records made by hand.
#include "record/perf/perf_record.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>

using namespace plumb::record;

namespace {

class Bytes {
  public:
    Bytes(uint32_t type, uint16_t misc) { header_ = {type, misc, 0}; }
    template <class Value> Bytes& add(Value value) {
        const char* begin = reinterpret_cast<const char*>(&value);
        body_.insert(body_.end(), begin, begin + sizeof value);
        return *this;
    }
    Bytes& text(const std::string& content) { // padded as the kernel pads
        body_ += content;
        body_.resize((body_.size() + 8) & ~size_t{7});
        return *this;
    }
    Bytes& trailer(uint32_t pid, uint32_t tid, uint64_t time, uint32_t cpu) {
        return add(pid).add(tid).add(time).add(cpu).add(uint32_t{0});
    }
    const perf_event_header& record() {
        header_.size = static_cast<uint16_t>(sizeof header_ + body_.size());
        whole_.assign(reinterpret_cast<const char*>(&header_), sizeof header_);
        whole_ += body_;
        return *reinterpret_cast<const perf_event_header*>(whole_.data());
    }

  private:
    perf_event_header header_;
    std::string body_, whole_;
};

constexpr uint64_t kChain = kSampleFields | PERF_SAMPLE_CALLCHAIN;

} // namespace

TEST_CASE("a sample with its call chain") {
    Bytes bytes(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);
    bytes.add(uint64_t{0x1234}).add(10u).add(11u).add(uint64_t{99}).add(3u).add(0u);
    bytes.add(uint64_t{3}).add(static_cast<uint64_t>(PERF_CONTEXT_KERNEL)).add(uint64_t{0xffff}).add(uint64_t{7});
    const auto sample = decode(bytes.record(), kChain, 0);
    REQUIRE(sample);
    CHECK(sample->kind == PerfKind::sample);
    CHECK(sample->in_kernel);
    CHECK(sample->address == 0x1234);
    CHECK(sample->pid == 10);
    CHECK(sample->tid == 11);
    CHECK(sample->time_ns == 99);
    CHECK(sample->cpu == 3);
    CHECK(std::ranges::equal(sample->chain, std::vector<uint64_t>{static_cast<uint64_t>(PERF_CONTEXT_KERNEL), 0xffff, 7}));
}

TEST_CASE("samples that contradict themselves are refused") {
    Bytes longer(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
    longer.add(uint64_t{1}).add(10u).add(11u).add(uint64_t{99}).add(3u).add(0u);
    longer.add(uint64_t{4}).add(uint64_t{1}); // a chain of four with one
    CHECK_FALSE(decode(longer.record(), kChain, 0));
    Bytes huge(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
    huge.add(uint64_t{1}).add(10u).add(11u).add(uint64_t{99}).add(3u).add(0u).add(UINT64_MAX / 8 + 2);
    CHECK_FALSE(decode(huge.record(), kChain, 0));
    Bytes cut(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
    cut.add(uint64_t{1});
    CHECK_FALSE(decode(cut.record(), kChain, 0));
}

TEST_CASE("a sample with registers and stack") {
    constexpr uint64_t kFields = kSampleFields | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
    Bytes bytes(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
    bytes.add(uint64_t{1}).add(10u).add(11u).add(uint64_t{99}).add(3u).add(0u);
    bytes.add(uint64_t{PERF_SAMPLE_REGS_ABI_64}).add(uint64_t{21}).add(uint64_t{22});
    bytes.add(uint64_t{16}).add(uint64_t{31}).add(uint64_t{32}).add(uint64_t{8}); // 16 copied, 8 of them valid
    const auto sample = decode(bytes.record(), kFields, 2);
    REQUIRE(sample);
    CHECK(std::ranges::equal(sample->registers, std::vector<uint64_t>{21, 22}));
    CHECK(sample->stack.size() == 8);

    Bytes in_kernel_thread(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);
    in_kernel_thread.add(uint64_t{1}).add(10u).add(11u).add(uint64_t{99}).add(3u).add(0u);
    in_kernel_thread.add(uint64_t{PERF_SAMPLE_REGS_ABI_NONE}).add(uint64_t{0}); // no registers, no stack
    const auto without = decode(in_kernel_thread.record(), kFields, 2);
    REQUIRE(without);
    CHECK(without->registers.empty());
    CHECK(without->stack.empty());
}

TEST_CASE("what processes do") {
    Bytes fork(PERF_RECORD_FORK, 0);
    fork.add(20u).add(10u).add(21u).add(11u).add(uint64_t{5}).trailer(20, 21, 77, 1);
    auto record = decode(fork.record(), kChain, 0);
    REQUIRE(record);
    CHECK(record->kind == PerfKind::fork);
    CHECK(record->pid == 20);
    CHECK(record->tid == 21);
    CHECK(record->parent_pid == 10);
    CHECK(record->parent_tid == 11);
    CHECK(record->time_ns == 77);

    Bytes exec(PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);
    exec.add(20u).add(20u).text("solver").trailer(20, 20, 78, 1);
    record = decode(exec.record(), kChain, 0);
    REQUIRE(record);
    CHECK(record->kind == PerfKind::exec);
    CHECK(record->text == "solver");

    Bytes comm(PERF_RECORD_COMM, 0);
    comm.add(20u).add(22u).text("worker").trailer(20, 22, 79, 1);
    CHECK(decode(comm.record(), kChain, 0)->kind == PerfKind::comm);

    Bytes lost(PERF_RECORD_LOST, 0);
    lost.add(uint64_t{3}).add(uint64_t{12}).trailer(0, 0, 80, 1);
    CHECK(decode(lost.record(), kChain, 0)->lost == 12);

    Bytes unknown(PERF_RECORD_AUX, 0);
    unknown.trailer(0, 0, 80, 1);
    CHECK_FALSE(decode(unknown.record(), kChain, 0));
}

TEST_CASE("mappings with and without build id") {
    Bytes with(PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_BUILD_ID);
    with.add(20u).add(20u).add(uint64_t{0x7000}).add(uint64_t{0x1000}).add(uint64_t{0x2000});
    with.add(uint8_t{20}).add(uint8_t{0}).add(uint16_t{0});
    for (uint8_t i = 0; i < 20; ++i)
        with.add(i);
    with.add(5u).add(2u).text("/lib/libx.so").trailer(20, 20, 81, 1);
    auto record = decode(with.record(), kChain, 0);
    REQUIRE(record);
    CHECK(record->kind == PerfKind::mapping);
    CHECK(record->start == 0x7000);
    CHECK(record->length == 0x1000);
    CHECK(record->page_offset == 0x2000);
    CHECK(record->build_id_size == 20);
    CHECK(record->build_id[19] == 19);
    CHECK(record->text == "/lib/libx.so");

    Bytes without(PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER);
    without.add(20u).add(20u).add(uint64_t{0x7000}).add(uint64_t{0x1000}).add(uint64_t{0});
    without.add(8u).add(1u).add(uint64_t{4711}).add(uint64_t{0}).add(5u).add(2u).text("//anon").trailer(20, 20, 82, 1);
    record = decode(without.record(), kChain, 0);
    REQUIRE(record);
    CHECK(record->device == (8ull << 32 | 1));
    CHECK(record->inode == 4711);
    CHECK(record->build_id_size == 0);
}
