// The clock loop around an emitted learned-table adder: whole arrays in, whole arrays out. verilator.py compiles it with
// Verilator's C++ of one design; its class Run mirrors the struct Run below field by field.
//
// ROPEWALK_KEEP: the streams have TKEEP. ROPEWALK_AXI: the table is outside, in a memory that answers in order, each burst
// after a latency of its own.

#include <cstdint>
#include <cstring>
#include <deque>
#include <stdexcept>
#include <string>

#include "Vropewalk.h"
#include "register_port.h"
#include "verilated.h"

// Verilator reports an unreadable file as a warning and goes on with an empty memory, and a fatal error by abort().
static std::string message_of(const char* file, int line, const char* message) {
    return std::string(message) + " (" + (file ? file : "") + ":" + std::to_string(line) + ")";
}
void vl_fatal(const char* file, int line, const char*, const char* message) {
    throw std::runtime_error(message_of(file, line, message));
}
void vl_stop(const char* file, int line, const char*) { throw std::runtime_error(message_of(file, line, "$stop")); }
void vl_warn(const char* file, int line, const char*, const char* message) {
    throw std::runtime_error(message_of(file, line, message));
}

namespace {

constexpr int32_t BURST_WRONG = 12, BURST_CHANGED = 13;

struct Source {                 // one stream that goes in
    int64_t beats, start, taken, waits;
    uint64_t random, stall;     // a clock rests where a draw is below `stall`
    int64_t offered;
};

struct Run {
    const uint32_t *token_words, *data_words, *keep_words;
    const uint8_t *tid, *last;
    uint32_t *out_words, *out_keep;
    uint8_t *out_tid, *out_last, *out_error;
    int64_t capacity, given, output_start;
    uint64_t output_random, output_stall;
    Source token, data;
    int64_t clock, quiet_limit, hang_limit, quiet, idle;
    int64_t first_data, first_output, last_output, early;   // -1 until it happens
    Host host;
    const uint8_t *image, *image_error;                     // the table outside, and which of its beats cannot be read
    uint64_t image_base, image_bytes;
    uint64_t* bursts;                                       // address, beats, reads under way: by burst
    int64_t burst_capacity, burst_count, latency_low, latency_high;
    uint64_t memory_random, memory_stall;
};

template <typename Port> void put(Port& port, const uint32_t* words) {
    if constexpr (sizeof(Port) <= 4) port = static_cast<Port>(words[0]);
    else if constexpr (sizeof(Port) == 8) port = static_cast<Port>(words[0] | static_cast<uint64_t>(words[1]) << 32);
}
template <std::size_t N> void put(VlWide<N>& port, const uint32_t* words) { std::memcpy(port.data(), words, 4 * N); }
template <typename Port> void get(const Port& port, uint32_t* words) {
    words[0] = static_cast<uint32_t>(port);
    if constexpr (sizeof(Port) == 8) words[1] = static_cast<uint32_t>(static_cast<uint64_t>(port) >> 32);
}
template <std::size_t N> void get(const VlWide<N>& port, uint32_t* words) { std::memcpy(words, port.data(), 4 * N); }
template <typename Port> constexpr int words_of() { return (sizeof(Port) + 3) / 4; }

using Data = std::remove_reference_t<decltype(std::declval<Vropewalk>().s_axis_tdata)>;
constexpr int DATA_WORDS = words_of<Data>();
#ifdef ROPEWALK_KEEP
constexpr int KEEP_WORDS = words_of<std::remove_reference_t<decltype(std::declval<Vropewalk>().s_axis_tkeep)>>();
#else
constexpr int KEEP_WORDS = 1;
#endif

struct Payload {
    uint32_t data[DATA_WORDS], keep[KEEP_WORDS], tid, last, error;
};

bool offers(Source& source, int64_t clock) {
    if (source.offered) return true;
    if (clock < source.start || source.taken == source.beats) return false;
    source.offered = source.stall == 0 || draw(source.random) >= source.stall;
    return source.offered;
}

void settle(Source& source, bool ready) {
    if (!source.offered) return;
    source.taken += ready;
    source.waits += !ready;
    source.offered = !ready;
}

struct Answer {                 // a beat that the memory owes
    int64_t due;
    uint64_t address;
    bool last;
};

struct Bench {
    VerilatedContext context;
    Vropewalk top{&context};
    std::string message;
    bool held = false;          // the output was offered and not taken in the clock before
    Payload seen{}, held_payload{};
    std::deque<Answer> owed;
    bool answering = false, asking = false;
    uint64_t asked = 0, asked_length = 0, under_way = 0;

    explicit Bench(int seed) {  // what nothing initialises starts random
        context.randReset(2);
        context.randSeed(seed);
    }
    ~Bench() { top.final(); }

    void edge() {
        top.aclk = 1;
        top.eval();
        top.aclk = 0;
    }

    int32_t reset(int64_t clocks) {
        top.aresetn = 0;
        top.s_axis_tvalid = top.s_axis_token_tvalid = top.m_axis_tready = 0;
        top.s_axil_awvalid = top.s_axil_wvalid = top.s_axil_arvalid = top.s_axil_bready = top.s_axil_rready = 0;
#ifdef ROPEWALK_AXI
        top.m_axi_arready = top.m_axi_rvalid = 0;
        owed.clear();
        answering = asking = false;
        under_way = 0;
#endif
        held = false;
        top.eval();
        for (int64_t clock = 0; clock < clocks; ++clock) {
            edge();
            top.eval();
            if (top.m_axis_tvalid) return VALID_IN_RESET;
        }
        top.aresetn = 1;
        return RUNNING;
    }

    int32_t step(Run& run, int64_t clocks) {
        for (const int64_t end = run.clock + clocks; run.clock < end || run.host.done < run.host.before;) {
            const bool streaming = run.host.done >= run.host.before;
            const int32_t status = clock(run, streaming);
            if (status != RUNNING) return status;
            run.clock += streaming;
        }
        return RUNNING;
    }

    int32_t clock(Run& run, bool streaming) {
        ask(top, run.host, streaming ? run.clock : INT64_MAX);
        const bool token = streaming && offers(run.token, run.clock), data = streaming && offers(run.data, run.clock);
        if (token) put(top.s_axis_token_tdata, run.token_words + run.token.taken * 2);
        if (data) {
            put(top.s_axis_tdata, run.data_words + run.data.taken * DATA_WORDS);
#ifdef ROPEWALK_KEEP
            put(top.s_axis_tkeep, run.keep_words + run.data.taken * KEEP_WORDS);
#endif
            top.s_axis_tid = run.tid[run.data.taken];
            top.s_axis_tlast = run.last[run.data.taken];
            if (run.early < 0) run.early = run.token.taken;
        }
        const bool rest = run.output_stall && draw(run.output_random) < run.output_stall;
        const bool ready = !streaming || (run.clock >= run.output_start && !rest);
        top.s_axis_token_tvalid = token;
        top.s_axis_tvalid = data;
        top.m_axis_tready = ready;
        offer_answer(run);
        top.eval();

        const int64_t before = run.token.taken + run.data.taken + run.given;
        if (data && top.s_axis_tready && run.first_data < 0) run.first_data = run.clock;
        settle(run.token, top.s_axis_token_tready);
        settle(run.data, top.s_axis_tready);
        int32_t status = streaming ? output(run, ready) : RUNNING;
        if (status == RUNNING) status = take_request(run);
        if (status == RUNNING) status = answered(top, run.host, streaming ? run.clock : -1);
        if (status != RUNNING || !streaming) {
            edge();
            return status;
        }
        edge();
        const bool moved = run.token.taken + run.data.taken + run.given != before;
        const bool hosting = run.host.done < run.host.count;
        const bool waiting = hosting || run.clock < run.output_start || run.clock < run.data.start;
        run.idle = moved || waiting ? 0 : run.idle + 1;
        if (moved || hosting || run.token.taken < run.token.beats || run.data.taken < run.data.beats) run.quiet = 0;
        else run.quiet += ready;
        if (run.quiet >= run.quiet_limit) return DONE;
        return run.idle >= run.hang_limit ? HUNG : RUNNING;
    }

    int32_t output(Run& run, bool ready) {
        if (!top.m_axis_tvalid) return held ? VALID_DROPPED : RUNNING;
        get(top.m_axis_tdata, seen.data);
#ifdef ROPEWALK_KEEP
        get(top.m_axis_tkeep, seen.keep);
#endif
        seen.tid = top.m_axis_tid;
        seen.last = top.m_axis_tlast;
        seen.error = top.m_axis_tuser;
        if (held && std::memcmp(&seen, &held_payload, sizeof seen)) return PAYLOAD_CHANGED;
        held = !ready;
        held_payload = seen;
        if (held) return RUNNING;
        if (run.given == run.capacity) return TOO_MANY;
        std::memcpy(run.out_words + run.given * DATA_WORDS, seen.data, sizeof seen.data);
        std::memcpy(run.out_keep + run.given * KEEP_WORDS, seen.keep, sizeof seen.keep);
        run.out_tid[run.given] = seen.tid;
        run.out_last[run.given] = seen.last;
        run.out_error[run.given] = seen.error;
        if (run.first_output < 0) run.first_output = run.clock;
        run.last_output = run.clock;
        ++run.given;
        return RUNNING;
    }

    int64_t now = 0;            // clocks of the memory, which runs before the streams begin too

#ifdef ROPEWALK_AXI
    void offer_answer(Run& run) {
        const bool rest = run.memory_stall && draw(run.memory_random) < run.memory_stall;
        top.m_axi_arready = !rest;
        if (!answering && !rest && !owed.empty() && owed.front().due <= now) {
            constexpr int bytes = sizeof top.m_axi_rdata;
            const uint64_t size = 1ull << top.m_axi_arsize, place = owed.front().address - run.image_base;
            uint32_t words[(bytes + 3) / 4] = {};
            const bool inside = place < run.image_bytes;
            if (inside) std::memcpy(words, run.image + place, size);
            put(top.m_axi_rdata, words);
            top.m_axi_rresp = !inside || run.image_error[place / size] ? 2 : 0;
            top.m_axi_rlast = owed.front().last;
            answering = true;
        }
        top.m_axi_rvalid = answering;
    }

    int32_t take_request(Run& run) {
        ++now;
        if (answering && top.m_axi_rready) {
            under_way -= owed.front().last;
            owed.pop_front();
            answering = false;
        }
        const uint64_t address = top.m_axi_araddr, length = top.m_axi_arlen + 1ull, size = 1ull << top.m_axi_arsize;
        if (asking && (!top.m_axi_arvalid || address != asked || length != asked_length)) return BURST_CHANGED;
        asking = top.m_axi_arvalid && !top.m_axi_arready;
        asked = address;
        asked_length = length;
        if (!top.m_axi_arvalid || asking) return RUNNING;
        if (top.m_axi_arburst != 1 || address % size || address % 4096 + length * size > 4096) return BURST_WRONG;
        ++under_way;
        if (run.burst_count < run.burst_capacity) {
            uint64_t* burst = run.bursts + 3 * run.burst_count++;
            burst[0] = address, burst[1] = length, burst[2] = under_way;
        }
        const int64_t span = run.latency_high - run.latency_low + 1;
        const int64_t due = now + run.latency_low + static_cast<int64_t>(draw(run.memory_random) % span);
        for (uint64_t beat = 0; beat < length; ++beat)
            owed.push_back({due, address + beat * size, beat == length - 1});
        return RUNNING;
    }
#else
    void offer_answer(Run&) {}
    int32_t take_request(Run&) { return RUNNING; }
#endif
};

template <typename Action> int32_t guarded(Bench* bench, Action action) {
    try {
        return action();
    } catch (const std::exception& error) {
        bench->message = error.what();
        return BROKEN;
    }
}

}  // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT int32_t rl_data_words() { return DATA_WORDS; }
EXPORT int32_t rl_keep_words() { return KEEP_WORDS; }
EXPORT int32_t rl_run_bytes() { return sizeof(Run); }
EXPORT Bench* rl_open(int32_t seed) { return new Bench(seed); }
EXPORT void rl_close(Bench* bench) { delete bench; }
EXPORT const char* rl_message(Bench* bench) { return bench->message.c_str(); }

// The first evaluation runs the initial blocks, which read the table from the current directory.
EXPORT int32_t rl_start(Bench* bench) {
    return guarded(bench, [&]() -> int32_t {
        bench->top.aclk = 0;
        bench->top.aresetn = 0;
        bench->top.eval();
        return bench->reset(2);
    });
}
EXPORT int32_t rl_step(Bench* bench, Run* run, int64_t clocks) {
    return guarded(bench, [&]() { return bench->step(*run, clocks); });
}
