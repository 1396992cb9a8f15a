#include "platform/code/decoder.h"

#include "platform/code/a64_instruction.h"
#include "platform/code/zydis.h"

#include <string.h>

#if defined(PLUMB_HAS_ZYDIS)
#include <dlfcn.h>
#endif

namespace plumb::shim {

#if defined(PLUMB_HAS_ZYDIS)
namespace {

// The library's structures change between minor versions, so only the one this was built for will do.
constexpr uint64_t kVersionMask = ~uint64_t{0} << 32;
constexpr const char* kLibraries[] = {"libZydis.so.4.0", "libZydis.so"};

ZydisDecoder decoder, length_decoder;
decltype(&ZydisDecoderDecodeFull) decode_full = nullptr;
decltype(&ZydisDecoderDecodeInstruction) decode_length = nullptr;
decltype(&ZydisMnemonicGetString) name_mnemonic = nullptr;

} // namespace

bool load_decoder(const char** why) {
    const char* ignored;
    const char*& reason = why ? *why : ignored;
    reason = nullptr;
    if (has_decoder())
        return true;
    void* library = nullptr;
    for (const char* name : kLibraries)
        if (!library)
            library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        reason = "the instruction decoder, libZydis.so.4.0, cannot be loaded";
        return false;
    }
    const auto version = reinterpret_cast<decltype(&ZydisGetVersion)>(dlsym(library, "ZydisGetVersion"));
    const auto init = reinterpret_cast<decltype(&ZydisDecoderInit)>(dlsym(library, "ZydisDecoderInit"));
    const auto full = reinterpret_cast<decltype(&ZydisDecoderDecodeFull)>(dlsym(library, "ZydisDecoderDecodeFull"));
    const auto alone = reinterpret_cast<decltype(&ZydisDecoderDecodeInstruction)>(dlsym(library, "ZydisDecoderDecodeInstruction"));
    const auto mode = reinterpret_cast<decltype(&ZydisDecoderEnableMode)>(dlsym(library, "ZydisDecoderEnableMode"));
    const auto name = reinterpret_cast<decltype(&ZydisMnemonicGetString)>(dlsym(library, "ZydisMnemonicGetString"));
    if (!version || !init || !full || !alone || !mode || !name || (version() & kVersionMask) != (ZYDIS_VERSION & kVersionMask)) {
        reason = "the instruction decoder, libZydis, has another version than the one this was built for (4.0)";
        return false;
    }
    if (!ZYAN_SUCCESS(init(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64))) {
        reason = "the instruction decoder, libZydis, does not decode 64-bit code";
        return false;
    }
    length_decoder = decoder;
    mode(&length_decoder, ZYDIS_DECODER_MODE_MINIMAL, ZYAN_TRUE); // as fast as this build of the library can
    __atomic_store_n(&name_mnemonic, name, __ATOMIC_RELEASE);
    __atomic_store_n(&decode_length, alone, __ATOMIC_RELEASE);
    __atomic_store_n(&decode_full, full, __ATOMIC_RELEASE);
    return true;
}

bool has_decoder() { return __atomic_load_n(&decode_full, __ATOMIC_ACQUIRE) != nullptr; }

bool decode_with_zydis(const uint8_t* code, size_t bytes, ZydisInstruction* instruction) {
    const auto decode = __atomic_load_n(&decode_full, __ATOMIC_ACQUIRE);
    return decode && ZYAN_SUCCESS(decode(&decoder, code, bytes, &instruction->decoded, instruction->operands));
}

const char* mnemonic_name(ZydisMnemonic mnemonic) {
    const auto name = __atomic_load_n(&name_mnemonic, __ATOMIC_ACQUIRE);
    const char* text = name ? name(mnemonic) : nullptr;
    return text ? text : "";
}

unsigned instruction_length(const uint8_t* code, size_t bytes) {
    ZydisDecodedInstruction decoded;
    const auto decode = __atomic_load_n(&decode_length, __ATOMIC_ACQUIRE);
    return decode && ZYAN_SUCCESS(decode(&length_decoder, nullptr, code, bytes, &decoded)) ? decoded.length : 0;
}

// Zydis numbers the registers as instructions encode them.
int dwarf_number(ZydisRegister reg) {
    static constexpr int8_t from_encoding[] = {0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15};
    if (reg >= ZYDIS_REGISTER_RAX && reg <= ZYDIS_REGISTER_R15)
        return from_encoding[reg - ZYDIS_REGISTER_RAX];
    return reg == ZYDIS_REGISTER_RIP ? kNextInstruction : kNoRegister;
}

int enclosing_number(ZydisRegister reg) {
    const auto nth = [](int encoding) { return dwarf_number(static_cast<ZydisRegister>(ZYDIS_REGISTER_RAX + encoding)); };
    if (reg >= ZYDIS_REGISTER_EAX && reg <= ZYDIS_REGISTER_R15D)
        return nth(reg - ZYDIS_REGISTER_EAX);
    if (reg >= ZYDIS_REGISTER_AX && reg <= ZYDIS_REGISTER_R15W)
        return nth(reg - ZYDIS_REGISTER_AX);
    if (reg >= ZYDIS_REGISTER_AL && reg <= ZYDIS_REGISTER_BL)
        return nth(reg - ZYDIS_REGISTER_AL);
    if (reg >= ZYDIS_REGISTER_AH && reg <= ZYDIS_REGISTER_BH)
        return nth(reg - ZYDIS_REGISTER_AH);
    if (reg >= ZYDIS_REGISTER_SPL && reg <= ZYDIS_REGISTER_R15B)
        return nth(4 + reg - ZYDIS_REGISTER_SPL);
    return dwarf_number(reg);
}

#elif defined(__aarch64__)

bool load_decoder(const char** why) {
    if (why)
        *why = nullptr;
    return true;
}
bool has_decoder() { return true; }

unsigned instruction_length(const uint8_t* code, size_t bytes) {
    uint32_t word;
    if (bytes < sizeof word)
        return 0;
    memcpy(&word, code, sizeof word);
    return a64::is_instruction(word) ? a64::kBytes : 0;
}

#else

bool load_decoder(const char** why) {
    if (why)
        *why = "this build has no instruction decoder (libZydis, x86-64 only)";
    return false;
}
bool has_decoder() { return false; }
unsigned instruction_length(const uint8_t*, size_t) { return 0; }

#endif

} // namespace plumb::shim
