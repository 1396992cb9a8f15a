// The variables of include/plumb/environment.h as this process found them at its start. Their texts are copied:
// programs overwrite their environment (setproctitle, setenv, clearenv).
#pragma once

#include <plumb/environment.h>
#include <stddef.h>
#include <stdint.h>

namespace plumb::shim {

enum class Setting : uint32_t {
#define PLUMB_X(identifier, name, effect) identifier,
    PLUMB_ENVIRONMENT(PLUMB_X)
#undef PLUMB_X
    count
};

class Settings {
  public:
    // Takes over what `environment` (NULL-terminated, as environ) says. Texts that find no room count as unset.
    void read(const char* const* environment);

    // Null: unset or empty.
    const char* text(Setting setting) const { return texts_[static_cast<uint32_t>(setting)]; }
    uint64_t number(Setting setting, uint64_t fallback) const;

    // Whether a comma-separated list names `word`; an unset list names everything.
    bool lists(Setting setting, const char* word) const;

    // The table of all variables, their values and effects, line by line.
    void print(void (*line)(const char* text, size_t length)) const;

  private:
    const char* texts_[static_cast<uint32_t>(Setting::count)] = {};
    char copies_[64 * 1024] = {};
};

extern Settings settings; // of this process; filled before anything else runs

} // namespace plumb::shim
