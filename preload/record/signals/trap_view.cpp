#include "record/signals/trap_view.h"

#include <atomic>

namespace plumb::shim {
namespace {

constexpr TrapView kNoTrap = {[] { return false; }, [](void*) {}, [] { return false; }, [](bool) {}};
constinit std::atomic<const TrapView*> current{&kNoTrap};

} // namespace

void set_trap_view(const TrapView* view) { current.store(view, std::memory_order_release); }

const TrapView& trap_view() { return *current.load(std::memory_order_acquire); }

} // namespace plumb::shim
