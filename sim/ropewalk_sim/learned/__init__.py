"""The learned-table adder outside its Verilog: fixed-point model, row rules, streams, and what runs the hardware."""
