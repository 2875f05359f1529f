// Ports as Verilator makes them, from and to 32-bit words: plain integers to 64 bits, arrays of words beyond.

#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "verilated.h"

template <typename Port> void put(Port& port, const uint32_t* words) {
    if constexpr (sizeof(Port) <= 4) port = static_cast<Port>(words[0]);
    else if constexpr (sizeof(Port) == 8) port = static_cast<Port>(words[0] | static_cast<uint64_t>(words[1]) << 32);
}
template <std::size_t N> void put(VlWide<N>& port, const uint32_t* words) {
    std::memcpy(port.data(), words, 4 * N);
}
template <typename Port> void get(const Port& port, uint32_t* words) {
    words[0] = static_cast<uint32_t>(port);
    if constexpr (sizeof(Port) == 8) words[1] = static_cast<uint32_t>(static_cast<uint64_t>(port) >> 32);
}
template <std::size_t N> void get(const VlWide<N>& port, uint32_t* words) {
    std::memcpy(words, port.data(), 4 * N);
}
template <typename Port> constexpr int words_of() { return (sizeof(std::remove_reference_t<Port>) + 3) / 4; }
