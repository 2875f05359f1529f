// The clock loop around an emitted top: whole arrays in, whole arrays out, no Python per clock.
//
// Compiled together with Verilator's C++ of one design into a shared library, and called through ctypes by
// verilator.py, whose class Run mirrors the struct Run below field by field.
//
// Per clock: the three sources and sinks decide, the clock rises, with which their decisions take effect (a register
// stands before each input, clocked.py), the logic settles, transfers are sampled. A source keeps valid and payload until
// they are taken; a sink is ready at random.

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "Vropewalk.h"
#include "register_port.h"
#include "verilated.h"
#if VM_TRACE_FST
#include "verilated_fst_c.h"
using Trace = VerilatedFstC;
#elif VM_TRACE_VCD
#include "verilated_vcd_c.h"
using Trace = VerilatedVcdC;
#endif

// Verilator reports an unreadable ROM file as a warning and goes on with an empty ROM, and a fatal error by abort().
// Both become an error of the run.
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

struct Source {                 // one stream that goes in
    int64_t beats;              // how many there are
    int64_t start;              // the clock before which none is offered
    uint64_t random;            // xorshift state, not 0
    uint64_t stall;             // a clock rests where the upper 32 bits of a draw are below this
    int64_t taken;              // transfers so far
    int64_t waits;              // clocks with valid and without ready
    int32_t offered;            // valid stands
    int32_t padding;
};

struct Run {
    const uint32_t* token_words;
    const uint32_t* data_words;
    const uint8_t* tid;
    const uint8_t* last;
    uint32_t* out_words;
    uint8_t* out_tid;
    uint8_t* out_last;
    uint8_t* out_user;
    int64_t capacity;           // beats that the out_ arrays hold
    int64_t given;              // output beats so far
    int64_t output_start;
    uint64_t output_random;
    uint64_t output_stall;
    int64_t output_waits;
    Source token;
    Source data;
    int64_t clock;              // clocks since reset
    int64_t quiet_limit;        // done: everything taken, and so many ready clocks without an output
    int64_t hang_limit;         // hung: so many clocks without any transfer
    int64_t quiet;
    int64_t idle;
    int64_t first_data_clock;   // -1 until it happens, like the two below
    int64_t first_output_clock;
    int64_t last_output_clock;
    int64_t early_tokens;       // taken before the first data beat was offered
    Host host;
    const uint32_t* keep;       // TKEEP, where the top has it: KEEP_WORDS a beat
    uint32_t* out_keep;
};

// Ports are plain integers to 64 bits, arrays of 32-bit words beyond.
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
template <typename Port> constexpr int words_of() { return (sizeof(Port) + 3) / 4; }

// TKEEP is there in units whose rows may end inside a beat.
template <typename Top, typename = void> struct Keep {
    static constexpr int words = 0;
    static void put_in(Top&, const uint32_t*) {}
    static void get_out(const Top&, uint32_t*) {}
};
template <typename Top> struct Keep<Top, std::void_t<decltype(std::declval<Top>().s_axis_tkeep)>> {
    static constexpr int words = words_of<std::remove_reference_t<decltype(std::declval<Top>().s_axis_tkeep)>>();
    static void put_in(Top& top, const uint32_t* bits) { put(top.s_axis_tkeep, bits); }
    static void get_out(const Top& top, uint32_t* bits) { get(top.m_axis_tkeep, bits); }
};
constexpr int KEEP_WORDS = Keep<Vropewalk>::words;

using Data = std::remove_reference_t<decltype(std::declval<Vropewalk>().s_axis_tdata)>;
using Token = std::remove_reference_t<decltype(std::declval<Vropewalk>().s_axis_token_tdata)>;
constexpr int DATA_WORDS = words_of<Data>();
constexpr int TOKEN_WORDS = words_of<Token>();

bool offers(Source& source, int64_t clock) {
    if (source.offered) return true;
    if (clock < source.start || source.taken == source.beats) return false;
    source.offered = source.stall == 0 || draw(source.random) >= source.stall;
    return source.offered;
}

void settle(Source& source, bool ready) {
    if (!source.offered) return;
    if (ready) {
        ++source.taken;
        source.offered = 0;
    } else {
        ++source.waits;
    }
}

struct Bench {
    VerilatedContext context;
    Vropewalk top{&context};
    std::string message;
    bool held = false;          // the output was offered and not taken in the clock before
    bool fresh = true;          // no edge yet: everything is as in reset
#if VM_TRACE
    Trace trace;
    int64_t trace_first = 0, trace_end = 0;  // the clocks that are written
#endif
    uint32_t words[DATA_WORDS], held_words[DATA_WORDS];
    uint32_t keep[KEEP_WORDS + 1] = {}, held_keep[KEEP_WORDS + 1] = {};
    uint8_t tid, last, user, held_tid, held_last, held_user;

    // What nothing initialises starts random, so that a result which depends on it differs.
    explicit Bench(int seed) {
        context.randReset(2);
        context.randSeed(seed);
    }
    ~Bench() {
        top.final();
#if VM_TRACE
        trace.close();
#endif
    }

    Status reset(int64_t clocks) {
        top.aresetn = 0;
        top.s_axis_tvalid = 0;
        top.s_axis_token_tvalid = 0;
        top.m_axis_tready = 0;
        top.s_axil_awvalid = 0;
        top.s_axil_wvalid = 0;
        top.s_axil_arvalid = 0;
        top.s_axil_bready = 0;
        top.s_axil_rready = 0;
        held = false;
        if (!fresh) edge();  // the end of the clock before
        for (int64_t clock = 1; clock < clocks; ++clock) {
            edge();
            if (top.m_axis_tvalid) return VALID_IN_RESET;
        }
        top.aresetn = 1;  // with the next edge, which is the last one in reset
        fresh = false;
        return RUNNING;
    }

    // The end of a clock, and the next one settled: with what was set for it.
    void edge(int64_t clock = -1) {
        top.aclk = 1;
        top.eval();
        write(clock, 0);
        top.aclk = 0;
        top.eval();
        write(clock, 5);
    }

#if VM_TRACE
    Status trace_into(const char* path, int64_t first, int64_t clocks) {
        context.traceEverOn(true);
        top.trace(&trace, 99);
        trace.set_time_unit("1ns");
        trace.set_time_resolution("1ns");
        trace.open(path);
        if (!trace.isOpen()) {
            message = "the file cannot be written";
            return BROKEN;
        }
        trace_first = first;
        trace_end = first + clocks;
        return RUNNING;
    }
    void write(int64_t clock, int64_t after) {
        if (clock >= trace_first && clock < trace_end) trace.dump(static_cast<uint64_t>(10 * clock + after));
    }
#else
    void write(int64_t, int64_t) {}
#endif


    Status step(Run& run, int64_t clocks) {
        for (const int64_t end = run.clock + clocks; run.clock < end || run.host.done < run.host.before;) {
            const bool streaming = run.host.done >= run.host.before;
            const Status status = streaming ? clock(run) : prelude(run);
            if (status != RUNNING) return status;
            run.clock += streaming;
        }
        return RUNNING;
    }

    // Nothing is offered, and what comes out is dropped: after a reset nothing does.
    Status prelude(Run& run) {
        top.s_axis_token_tvalid = 0;
        top.s_axis_tvalid = 0;
        top.m_axis_tready = 1;
        held = false;
        ask(top, run.host, INT64_MAX);
        edge();
        return answered(top, run.host, -1);
    }

    Status clock(Run& run) {
        ask(top, run.host, run.clock);
        if (offers(run.token, run.clock)) put(top.s_axis_token_tdata, run.token_words + run.token.taken * TOKEN_WORDS);
        if (offers(run.data, run.clock)) {
            put(top.s_axis_tdata, run.data_words + run.data.taken * DATA_WORDS);
            top.s_axis_tid = run.tid[run.data.taken];
            top.s_axis_tlast = run.last[run.data.taken];
            Keep<Vropewalk>::put_in(top, run.keep + run.data.taken * KEEP_WORDS);
            if (run.early_tokens < 0) run.early_tokens = run.token.taken;
        }
        const bool ready =
            run.clock >= run.output_start && (run.output_stall == 0 || draw(run.output_random) >= run.output_stall);
        top.s_axis_token_tvalid = run.token.offered;
        top.s_axis_tvalid = run.data.offered;
        top.m_axis_tready = ready;
        edge(run.clock);

        const int64_t before = run.token.taken + run.data.taken + run.given;
        const bool data_taken = run.data.offered && top.s_axis_tready;
        if (data_taken && run.first_data_clock < 0) run.first_data_clock = run.clock;
        settle(run.token, top.s_axis_token_tready);
        settle(run.data, top.s_axis_tready);
        Status status = output(run, ready);
        if (status == RUNNING) status = answered(top, run.host, run.clock);
        if (status != RUNNING) return status;

        const bool moved = run.token.taken + run.data.taken + run.given != before;
        const bool waiting = run.host.done < run.host.count || run.clock < run.output_start || (run.clock < run.token.start && run.token.beats) ||
                             (run.clock < run.data.start && run.data.beats);
        run.idle = moved || waiting ? 0 : run.idle + 1;
        const bool all_taken = run.token.taken == run.token.beats && run.data.taken == run.data.beats && run.host.done == run.host.count;
        if (moved || !all_taken) run.quiet = 0;
        else if (ready) ++run.quiet;
        if (run.quiet >= run.quiet_limit) return DONE;
        return run.idle >= run.hang_limit ? HUNG : RUNNING;
    }

    Status output(Run& run, bool ready) {
        if (!top.m_axis_tvalid) {
            return held ? VALID_DROPPED : RUNNING;
        }
        get(top.m_axis_tdata, words);
        tid = top.m_axis_tid;
        last = top.m_axis_tlast;
        user = top.m_axis_tuser;
        Keep<Vropewalk>::get_out(top, keep);
        if (held && (std::memcmp(words, held_words, sizeof words) || std::memcmp(keep, held_keep, sizeof keep) || tid != held_tid || last != held_last ||
                     user != held_user))
            return PAYLOAD_CHANGED;
        held = !ready;
        if (held) {
            ++run.output_waits;
            std::memcpy(held_words, words, sizeof words);
            std::memcpy(held_keep, keep, sizeof keep);
            held_tid = tid;
            held_last = last;
            held_user = user;
            return RUNNING;
        }
        if (run.given == run.capacity) return TOO_MANY;
        std::memcpy(run.out_words + run.given * DATA_WORDS, words, sizeof words);
        std::memcpy(run.out_keep + run.given * KEEP_WORDS, keep, 4 * KEEP_WORDS);
        run.out_tid[run.given] = tid;
        run.out_last[run.given] = last;
        run.out_user[run.given] = user;
        if (run.first_output_clock < 0) run.first_output_clock = run.clock;
        run.last_output_clock = run.clock;
        ++run.given;
        return RUNNING;
    }
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

EXPORT int32_t rw_data_words() { return DATA_WORDS; }
EXPORT int32_t rw_token_words() { return TOKEN_WORDS; }
EXPORT int32_t rw_keep_words() { return KEEP_WORDS; }
EXPORT int32_t rw_run_bytes() { return sizeof(Run); }
EXPORT Bench* rw_open(int32_t seed) { return new Bench(seed); }
EXPORT void rw_close(Bench* bench) { delete bench; }
EXPORT const char* rw_message(Bench* bench) { return bench->message.c_str(); }

// The first evaluation runs the initial blocks, which read the ROM files from the current directory.
EXPORT int32_t rw_start(Bench* bench) {
    return guarded(bench, [&]() -> Status {
        bench->top.aclk = 0;
        bench->top.aresetn = 0;
        bench->top.eval();
        return RUNNING;
    });
}
#if VM_TRACE
EXPORT int32_t rw_trace(Bench* bench, const char* path, int64_t first, int64_t clocks) {
    return guarded(bench, [&]() { return bench->trace_into(path, first, clocks); });
}
#endif
EXPORT int32_t rw_reset(Bench* bench, int64_t clocks) {
    return guarded(bench, [&]() { return bench->reset(clocks); });
}
EXPORT int32_t rw_step(Bench* bench, Run* run, int64_t clocks) {
    return guarded(bench, [&]() { return bench->step(*run, clocks); });
}
