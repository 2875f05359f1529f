// The memory outside, at the read master of an emitted top that has one. Part of harness.cpp;
// units/verilator_memory.py mirrors the struct Reads field by field.

#pragma once

#include <cstdint>
#include <cstring>
#include <deque>
#include <type_traits>
#include <utility>

#include "port_words.h"
#include "register_port.h"

struct Reads {                  // what is in it, how it answers, and the reads so far
    const uint8_t* image;
    const uint8_t* unreadable;  // which beats of the bus answer SLVERR
    uint64_t base;
    uint64_t bytes;
    uint64_t* bursts;           // address, beats, reads under way: by read
    int64_t capacity;
    int64_t count;
    int64_t latency_low;
    int64_t latency_high;
    uint64_t random;
    uint64_t stall;
};

// A top without a read master.
template <typename Top, typename = void> struct ReadMemory {
    void reset(Top&) {}
    void offer(Top&, Reads&) {}
    Status take(const Top&, Reads&) { return RUNNING; }
};

// Answers in order, each read after a latency of its own. Its clocks run before the streams begin too.
template <typename Top> class ReadMemory<Top, std::void_t<decltype(std::declval<Top>().m_axi_araddr)>> {
    struct Beat {               // one that it owes
        int64_t due;
        uint64_t address;
        bool last;
    };
    std::deque<Beat> owed;
    bool answering = false, asking = false;
    uint64_t asked = 0, asked_length = 0, under_way = 0;
    int64_t now = 0;

  public:
    void reset(Top& top) {
        top.m_axi_arready = top.m_axi_rvalid = 0;
        owed.clear();
        answering = asking = false;
        under_way = 0;
    }

    // Before the logic settles.
    void offer(Top& top, Reads& reads) {
        const bool rest = reads.stall && draw(reads.random) < reads.stall;
        top.m_axi_arready = !rest;
        if (!answering && !rest && !owed.empty() && owed.front().due <= now) {
            const uint64_t size = 1ull << top.m_axi_arsize, place = owed.front().address - reads.base;
            uint32_t words[words_of<decltype(top.m_axi_rdata)>()] = {};
            const bool inside = place < reads.bytes;
            if (inside) std::memcpy(words, reads.image + place, size);
            put(top.m_axi_rdata, words);
            top.m_axi_rresp = !inside || reads.unreadable[place / size] ? 2 : 0;
            top.m_axi_rlast = owed.front().last;
            answering = true;
        }
        top.m_axi_rvalid = answering;
    }

    // After it has.
    Status take(const Top& top, Reads& reads) {
        ++now;
        if (answering && top.m_axi_rready) {
            under_way -= owed.front().last;
            owed.pop_front();
            answering = false;
        }
        const uint64_t address = top.m_axi_araddr, length = top.m_axi_arlen + 1ull, size = 1ull << top.m_axi_arsize;
        if (asking && (!top.m_axi_arvalid || address != asked || length != asked_length)) return READ_CHANGED;
        asking = top.m_axi_arvalid && !top.m_axi_arready;
        asked = address;
        asked_length = length;
        if (!top.m_axi_arvalid || asking) return RUNNING;
        if (top.m_axi_arburst != 1 || address % size || address % 4096 + length * size > 4096) return READ_WRONG;
        ++under_way;
        if (reads.count < reads.capacity) {
            uint64_t* burst = reads.bursts + 3 * reads.count++;
            burst[0] = address, burst[1] = length, burst[2] = under_way;
        }
        const int64_t span = reads.latency_high - reads.latency_low + 1;
        const int64_t due = now + reads.latency_low + static_cast<int64_t>(draw(reads.random) % span);
        for (uint64_t beat = 0; beat < length; ++beat)
            owed.push_back({due, address + beat * size, beat == length - 1});
        return RUNNING;
    }
};
