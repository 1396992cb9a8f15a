// Reads numbers and pointers of call-frame information, of which any byte may be damaged. Signal-safe.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

namespace plumb::shim::cfi {

enum PointerEncoding : uint8_t {
    kAbsolute = 0x00,
    kUleb = 0x01,
    kUdata2 = 0x02,
    kUdata4 = 0x03,
    kUdata8 = 0x04,
    kSleb = 0x09,
    kSdata2 = 0x0a,
    kSdata4 = 0x0b,
    kSdata8 = 0x0c,
    kPcRelative = 0x10,
    kDataRelative = 0x30,
    kOmitted = 0xff,
};

// A cursor that never leaves [at, end); reading past the end yields zeros and sets `bad`.
struct Cursor {
    const uint8_t* at;
    const uint8_t* end;
    bool bad = false;

    template <class T> T fixed() {
        T value{};
        if (static_cast<size_t>(end - at) < sizeof(T)) {
            bad = true;
            at = end;
            return value;
        }
        memcpy(&value, at, sizeof(T));
        at += sizeof(T);
        return value;
    }

    uint64_t uleb() {
        uint64_t value = 0;
        for (unsigned shift = 0; at < end; shift += 7) {
            const uint8_t byte = *at++;
            if (shift < 64)
                value |= static_cast<uint64_t>(byte & 0x7f) << shift;
            if (!(byte & 0x80))
                return value;
        }
        bad = true;
        return 0;
    }

    int64_t sleb() {
        uint64_t value = 0;
        for (unsigned shift = 0; at < end;) {
            const uint8_t byte = *at++;
            if (shift < 64)
                value |= static_cast<uint64_t>(byte & 0x7f) << shift;
            shift += 7;
            if (!(byte & 0x80)) {
                if ((byte & 0x40) && shift < 64)
                    value |= ~uint64_t{0} << shift;
                return static_cast<int64_t>(value);
            }
        }
        bad = true;
        return 0;
    }

    void skip(uint64_t bytes) {
        if (bytes > static_cast<uint64_t>(end - at)) {
            bad = true;
            at = end;
        } else {
            at += bytes;
        }
    }

    uint64_t pointer(uint8_t encoding, const void* data_base) {
        if (encoding == kOmitted)
            return 0;
        const uint64_t place = reinterpret_cast<uint64_t>(at);
        uint64_t value = 0;
        switch (encoding & 0x0f) {
        case kAbsolute:
        case kUdata8:
        case kSdata8:
            value = fixed<uint64_t>();
            break;
        case kUleb:
            value = uleb();
            break;
        case kUdata2:
            value = fixed<uint16_t>();
            break;
        case kUdata4:
            value = fixed<uint32_t>();
            break;
        case kSleb:
            value = static_cast<uint64_t>(sleb());
            break;
        case kSdata2:
            value = static_cast<uint64_t>(static_cast<int64_t>(fixed<int16_t>()));
            break;
        case kSdata4:
            value = static_cast<uint64_t>(static_cast<int64_t>(fixed<int32_t>()));
            break;
        default:
            bad = true;
        }
        if ((encoding & 0x70) == kPcRelative)
            value += place;
        else if ((encoding & 0x70) == kDataRelative)
            value += reinterpret_cast<uint64_t>(data_base);
        else if (encoding & 0x70)
            bad = true;
        return value;
    }
};

// Numbers of a damaged table may be anything: what does not fit wraps, and the rule is checked in the end.
inline int64_t plus(int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b)); }
inline int64_t minus(int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b)); }
inline int64_t times(int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b)); }

} // namespace plumb::shim::cfi
