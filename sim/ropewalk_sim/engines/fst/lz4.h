// What Verilator's FST writer asks of liblz4, whose headers few machines have: a block of literals and nothing else,
// which every LZ4 decoder reads. Not smaller than its input; the writer keeps whichever is smaller, where it may.
#pragma once

#include <cstring>

inline int LZ4_compressBound(int size) { return size + size / 255 + 16; }

// The block format (lz4_Block_format.md): a token whose upper half is the number of literals, 15 meaning that bytes
// follow which are added to it, the last one below 255; the literals; and for the last sequence nothing more.
inline int LZ4_compress_default(const char* source, char* target, int size, int capacity) {
    if (capacity < LZ4_compressBound(size)) return 0;
    char* at = target;
    *at++ = static_cast<char>((size < 15 ? size : 15) << 4);
    if (size >= 15) {
        int rest = size - 15;
        for (; rest >= 255; rest -= 255) *at++ = static_cast<char>(255);
        *at++ = static_cast<char>(rest);
    }
    std::memcpy(at, source, size);
    return static_cast<int>(at - target) + size;
}
