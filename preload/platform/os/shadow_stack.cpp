#include "platform/os/shadow_stack.h"

#include "platform/os/system_call.h"

namespace plumb::shim {
namespace {

constexpr uint64_t kFeatureShadowStack = 1;

#if defined(__x86_64__)
constexpr long kShadowStackStatus = 0x5005; // ARCH_SHSTK_STATUS, later than Debian 12's headers
long ask_kernel(uint64_t* features) { return system_call(SYS_arch_prctl, kShadowStackStatus, word(features)); }
#else
long ask_kernel(uint64_t*) { return -1; }
#endif

} // namespace

long (*shadow_stack_status)(uint64_t* features) = ask_kernel;

bool shadow_stack_is_on() {
    uint64_t features = 0;
    return shadow_stack_status(&features) == 0 && (features & kFeatureShadowStack) != 0;
}

} // namespace plumb::shim
