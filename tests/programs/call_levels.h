// Functions level1, level2, ... for many or deep call paths: level1 calls `leaf`, each other one the level below it. LEVEL(name,
// next), which defines one of them, is each program's own.
#pragma once

#define SEVEN_LEVELS(leaf)                                                                                   \
    LEVEL(level1, leaf)                                                                                      \
    LEVEL(level2, level1)                                                                                    \
    LEVEL(level3, level2)                                                                                    \
    LEVEL(level4, level3)                                                                                    \
    LEVEL(level5, level4)                                                                                    \
    LEVEL(level6, level5)                                                                                    \
    LEVEL(level7, level6)
#define TWELVE_LEVELS(leaf)                                                                                  \
    SEVEN_LEVELS(leaf)                                                                                       \
    LEVEL(level8, level7)                                                                                    \
    LEVEL(level9, level8)                                                                                    \
    LEVEL(level10, level9)                                                                                   \
    LEVEL(level11, level10)                                                                                  \
    LEVEL(level12, level11)
#define SIXTEEN_LEVELS(leaf)                                                                                 \
    TWELVE_LEVELS(leaf)                                                                                      \
    LEVEL(level13, level12)                                                                                  \
    LEVEL(level14, level13)                                                                                  \
    LEVEL(level15, level14)                                                                                  \
    LEVEL(level16, level15)
