#include "record/process/process_filter.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <string>

using namespace plumb::shim;

static bool matches(const char* glob, const char* text) { return matches_glob(glob, glob + strlen(glob), text); }

static FilterVerdict scope(const char* executable, const char* include = nullptr, const char* exclude = nullptr,
                   bool direct = false, const char* invoked_as = nullptr) {
    return filter_verdict_of(executable, invoked_as, include, exclude, direct);
}

TEST_CASE("globs") {
    CHECK(matches("app", "app"));
    CHECK_FALSE(matches("app", "apps"));
    CHECK_FALSE(matches("apps", "app"));
    CHECK(matches("*", ""));
    CHECK(matches("*", "/any/path"));
    CHECK(matches("/opt/*/bin/*", "/opt/a/b/bin/c"));
    CHECK_FALSE(matches("/opt/*/bin/*", "/opt/bin"));
    CHECK(matches("*a*b*c", "xxaxxbxxbxc"));
    CHECK_FALSE(matches("*a*b*c", "xxaxxcxxb"));
    CHECK(matches("l?mp", "lamp"));
    CHECK_FALSE(matches("l?mp", "lmp"));
    CHECK(matches("v[0-9].[!x]", "v7.y"));
    CHECK_FALSE(matches("v[0-9].[!x]", "v7.x"));
    CHECK_FALSE(matches("v[0-9]", "va"));
    CHECK(matches("[]]", "]"));
    CHECK(matches("a[b", "a[b")); // never closed: plain characters
    CHECK_FALSE(matches("", "x"));
    CHECK(matches("", ""));
}

TEST_CASE("a hostile glob takes no exponential time") {
    std::string glob, text(2000, 'a');
    for (int i = 0; i < 30; ++i)
        glob += "*a";
    glob += "*b";
    CHECK_FALSE(matches(glob.c_str(), text.c_str()));
}

TEST_CASE("shells, launchers and build drivers stay dormant") {
    CHECK(scope("/usr/bin/bash") == FilterVerdict::launcher);
    CHECK(scope("/opt/mpich/bin/hydra_pmi_proxy") == FilterVerdict::launcher);
    CHECK(scope("/usr/bin/make") == FilterVerdict::launcher);
    CHECK(scope("/usr/bin/python3.11") == FilterVerdict::recorded);
    CHECK(scope("/home/user/bash_like") == FilterVerdict::recorded);
}

TEST_CASE("what was given to run is recorded even if it drives builds, but not if it is a shell") {
    CHECK(scope("/usr/bin/make", nullptr, nullptr, true) == FilterVerdict::recorded);
    CHECK(scope("/usr/bin/dash", nullptr, nullptr, true) == FilterVerdict::launcher);
}

TEST_CASE("a multi-call binary is what it was called as") {
    CHECK(scope("/bin/busybox", nullptr, nullptr, false, "/bin/sh") == FilterVerdict::launcher);
    CHECK(scope("/bin/busybox", nullptr, nullptr, false, "gzip") == FilterVerdict::recorded);
}

TEST_CASE("include and exclude lists") {
    CHECK(scope("/opt/app/solver", "solver") == FilterVerdict::recorded);
    CHECK(scope("/opt/app/solver", "/opt/*") == FilterVerdict::recorded);
    CHECK(scope("/opt/app/solver", "other:so*") == FilterVerdict::recorded);
    CHECK(scope("/opt/app/solver", "other") == FilterVerdict::not_included);
    CHECK(scope("/opt/app/solver", "sol*", "*ver") == FilterVerdict::excluded);
    CHECK(scope("/opt/app/solver", nullptr, "::other:") == FilterVerdict::recorded);
    CHECK(scope("/usr/bin/bash", "bash") == FilterVerdict::recorded); // named by the user: he wants to see it
}
