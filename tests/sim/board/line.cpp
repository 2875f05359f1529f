// A board's top behind a terminal: bytes from the terminal go onto uart_rx bit by bit, what uart_tx says goes back, and
// on the way bytes are lost, flipped and repeated.
//
// Arguments: file descriptor, clocks per bit, seed, and of a million bytes how many are lost, flipped, repeated.
// SIGUSR1 presses the button for a while.

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <poll.h>
#include <unistd.h>

#include "Vropewalk.h"
#include "verilated.h"

static uint64_t state;
static uint32_t draw() {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return static_cast<uint32_t>(state >> 32);
}

static uint32_t lost, flipped, repeated;
static void pass(std::deque<uint8_t>& line, uint8_t byte) {
    const uint32_t chance = draw() % 1000000;
    if (chance < lost) return;
    if (chance < lost + flipped) byte ^= 1u << draw() % 8;
    line.push_back(byte);
    if (chance >= 1000000 - repeated) line.push_back(byte);
}

static volatile sig_atomic_t pressed;
static void press(int) { pressed = 100; }

int main(int argc, char** argv) {
    if (argc != 7) return 2;
    const int fd = atoi(argv[1]), divisor = atoi(argv[2]);
    state = strtoull(argv[3], nullptr, 10) * 2654435761u + 1;
    lost = atoi(argv[4]), flipped = atoi(argv[5]), repeated = atoi(argv[6]);
    signal(SIGUSR1, press);
    VerilatedContext context;
    Vropewalk top(&context);
    top.clk = 0, top.reset_button = 0, top.uart_rx = 1;
    top.eval();
    std::deque<uint8_t> in, out;
    int sent = 10, sending = 0, send_clock = 0;     // bits of the byte on uart_rx
    int got = -1, receiving = 0, get_clock = 0;     // bits of the byte on uart_tx
    int quiet = 0;
    for (;;) {
        if (sent == 10 && !in.empty()) sending = in.front() << 1 | 0x200, in.pop_front(), sent = 0, send_clock = 0;
        top.uart_rx = sent < 10 ? sending >> sent & 1 : 1;
        if (sent < 10 && ++send_clock == divisor) send_clock = 0, ++sent;
        top.reset_button = pressed > 0;
        if (pressed > 0) pressed = pressed - 1, quiet = 0;
        top.clk = 0, top.eval();
        top.clk = 1, top.eval();
        if (got < 0 && !top.uart_tx) got = 0, receiving = 0, get_clock = -divisor / 2;
        if (got >= 0 && ++get_clock == divisor) {
            get_clock = 0;
            if (got < 8) receiving |= top.uart_tx << got;
            else pass(out, receiving);
            got = got == 8 ? -1 : got + 1;
        }
        if (++quiet % 512) continue;
        const bool busy = sent < 10 || got >= 0 || (!top.led_pass && !top.led_fail);
        pollfd ready = {fd, POLLIN, 0};
        if (poll(&ready, 1, busy || quiet < 20000 ? 0 : 2) > 0 && (ready.revents & POLLIN)) {
            uint8_t buffer[256];
            const ssize_t count = read(fd, buffer, sizeof buffer);
            for (ssize_t index = 0; index < count; ++index) pass(in, buffer[index]);
            quiet = 0;
        }
        for (; !out.empty(); out.pop_front())
            if (write(fd, &out.front(), 1) != 1) return 1;
    }
}
