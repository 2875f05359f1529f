"""The area benchmark, ``scripts/bench_area``: what is measured and how, the rivals, tables and chart of both."""
