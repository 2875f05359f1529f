// The user of the register port of an emitted top: accesses, one after the other. Part of harness.cpp; verilator_host.py
// mirrors the two structs field by field.

#pragma once

#include <cstdint>

#include "Vropewalk.h"

enum Status : int32_t { RUNNING, DONE, HUNG, TOO_MANY, VALID_DROPPED, PAYLOAD_CHANGED, VALID_IN_RESET, BROKEN,
                       PORT_SILENT, PORT_UNASKED, PORT_CHANGED, POLLS_ENDLESS, READ_WRONG, READ_CHANGED };

enum Kind : int32_t { READ, WRITE, POLL };

struct Access {                 // one thing done at the register port
    uint32_t address;
    uint32_t value;             // to write, or to wait for under the mask
    uint32_t mask;
    uint32_t answer;
    int32_t kind;
    int32_t strobes;
    int32_t response;
    int32_t padding;
    int64_t start;              // the clock of the streams before which it does not begin
    int64_t clock;              // when it was answered, -1 before the streams
};

struct Host {                   // who does them
    Access* accesses;
    int64_t count;
    int64_t before;             // so many are done before the streams begin
    int64_t done;
    uint64_t random;
    uint64_t stall;
    int64_t waited;             // clocks since the access under way began
    int64_t polls;
    int64_t most_polls;
    int64_t silence_limit;
    int32_t active;
    int32_t address;            // 0 to be offered, 1 offered, 2 taken; the same for the data
    int32_t data;
    int32_t held;               // an answer was offered and not taken in the clock before
    uint32_t held_answer;
    int32_t held_response;
};

inline uint64_t draw(uint64_t& state) {  // xorshift64*, Vigna 2016
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (state * 0x2545F4914F6CDD1DULL) >> 32;
}

inline bool rests(Host& host) { return host.stall && draw(host.random) < host.stall; }

// A clock of the register port's user, before the logic settles. What is not valid is noise.
inline void ask(Vropewalk& top, Host& host, int64_t clock) {
    if (!host.active && host.done < host.count && clock >= host.accesses[host.done].start) {
        host.active = 1;
        host.address = host.data = 0;
        host.waited = 0;
    }
    const Access& access = host.accesses[host.active ? host.done : 0];
    const bool writes = host.active && access.kind == WRITE;
    if (host.active && !host.address && !rests(host)) host.address = 1;
    if (writes && !host.data && !rests(host)) host.data = 1;
    top.s_axil_awvalid = writes && host.address == 1;
    top.s_axil_wvalid = writes && host.data == 1;
    top.s_axil_arvalid = host.active && !writes && host.address == 1;
    top.s_axil_awaddr = top.s_axil_awvalid ? access.address : draw(host.random) & 0xfff;
    top.s_axil_araddr = top.s_axil_arvalid ? access.address : draw(host.random) & 0xfff;
    top.s_axil_wdata = top.s_axil_wvalid ? access.value : static_cast<uint32_t>(draw(host.random));
    top.s_axil_wstrb = top.s_axil_wvalid ? access.strobes : draw(host.random) & 0xf;
    top.s_axil_bready = !rests(host);
    top.s_axil_rready = !rests(host);
}

// The same clock, when it has settled.
inline Status answered(Vropewalk& top, Host& host, int64_t clock) {
    Access& access = host.accesses[host.active ? host.done : 0];
    const bool writes = host.active && access.kind == WRITE;
    const bool asked = host.active && host.address == 2 && (!writes || host.data == 2);
    if ((top.s_axil_bvalid && !(asked && writes)) || (top.s_axil_rvalid && (!asked || writes))) return PORT_UNASKED;
    const bool valid = top.s_axil_bvalid || top.s_axil_rvalid;
    const uint32_t answer = writes ? 0 : top.s_axil_rdata;
    const int32_t response = writes ? top.s_axil_bresp : top.s_axil_rresp;
    if (host.held && (!valid || answer != host.held_answer || response != host.held_response)) return PORT_CHANGED;
    if (writes && host.address == 1 && top.s_axil_awready) host.address = 2;
    if (writes && host.data == 1 && top.s_axil_wready) host.data = 2;
    if (host.active && !writes && host.address == 1 && top.s_axil_arready) host.address = 2;
    const bool taken = valid && (writes ? top.s_axil_bready : top.s_axil_rready);
    host.held = valid && !taken;
    host.held_answer = answer;
    host.held_response = response;
    if (!taken) return host.active && ++host.waited > host.silence_limit ? PORT_SILENT : RUNNING;
    host.active = 0;
    if (access.kind == POLL && response == 0 && (answer & access.mask) != access.value)
        return ++host.polls > host.most_polls ? POLLS_ENDLESS : RUNNING;
    access.answer = answer;
    access.response = response;
    access.clock = clock;
    host.polls = 0;
    ++host.done;
    return RUNNING;
}
