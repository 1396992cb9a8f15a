#include "record/access/walks/access_burst.h"

#include "record/perf/perf_record.h"
#include "support/memory_units.h"

#include <algorithm>
#include <array>
#include <bit>
#include <ctime>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>

namespace plumb::record {

namespace {

constexpr size_t kPages = 8;  // of the ring: 64 rounds of 200 bytes, and what else the kernel writes
constexpr size_t kRecent = 8; // accesses whose pages are certainly still known to the processor

#if defined(__x86_64__)

class Breakpoint : public AccessBurst {
  public:
    explicit Breakpoint(const WatchedAccess& access) : access_(access) {
        perf_event_attr event{};
        event.size = sizeof event;
        event.type = PERF_TYPE_BREAKPOINT;
        event.bp_type = HW_BREAKPOINT_X;
        event.bp_addr = access.instruction;
        event.bp_len = sizeof(long);
        event.sample_period = 1;
        event.sample_type = kSampleFields | PERF_SAMPLE_REGS_USER;
        event.sample_regs_user = kUserRegisters;
        event.sample_id_all = 1;
        event.use_clockid = 1;
        event.clockid = CLOCK_MONOTONIC;
        event.disabled = event.exclude_kernel = event.exclude_hv = 1;
        fields_ = event.sample_type;
        works_ = ring_.open(event, static_cast<int>(access.tid), -1, kPages) == 0 &&
                 ioctl(ring_.fd(), PERF_EVENT_IOC_REFRESH, kRounds) == 0;
    }
    bool works() const { return works_; }

    const std::vector<uint64_t>& addresses() override {
        ring_.drain([this](const perf_event_header& header) {
            const auto record = decode(header, fields_, std::popcount(kUserRegisters));
            if (!record || record->kind != PerfKind::sample || record->address != access_.instruction ||
                record->register_abi != PERF_SAMPLE_REGS_ABI_64 || record->registers.size() != kUserRegisterCount)
                return;
            shim::Registers registers;
            for (size_t i = 0; i < kUserRegisterCount; ++i)
                registers[kDwarfNumbers[i]] = record->registers[i];
            registers[shim::kNextInstruction] = access_.instruction + access_.length;
            addresses_.push_back(shim::operand_address(access_.operand, registers, 0));
        });
        return addresses_;
    }

  private:
    const WatchedAccess access_;
    PerfRing ring_;
    uint64_t fields_ = 0;
    bool works_ = false;
    std::vector<uint64_t> addresses_;
};

#endif

} // namespace

std::unique_ptr<AccessBurst> start_burst([[maybe_unused]] const WatchedAccess& access) {
#if defined(__x86_64__)
    auto burst = std::make_unique<Breakpoint>(access);
    if (burst->works())
        return burst;
#endif
    return nullptr;
}

double new_page_fraction(const std::vector<uint64_t>& addresses) {
    if (addresses.size() < 2)
        return 0;
    const auto page = [&](size_t at) { return addresses[at] / kPage; };
    size_t fresh = 0;
    for (size_t i = 1; i < addresses.size(); ++i) {
        bool known = false;
        for (size_t j = i > kRecent ? i - kRecent : 0; j < i; ++j)
            known |= std::max(page(i), page(j)) - std::min(page(i), page(j)) <= 1;
        fresh += !known;
    }
    return static_cast<double>(fresh) / static_cast<double>(addresses.size() - 1);
}

} // namespace plumb::record
