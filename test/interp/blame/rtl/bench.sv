// Runs a network that program.py wrote: every file is one that `assay golden --format hex` writes, every
// output goes to a file of the bundle's name.
//   +program=FILE +bundle=DIR +out=DIR [+round=N] [+node=I +quirk=N [+value=N] [+quirk2=N [+value2=N]]] [+sums=DIR]
module bench;
    import npu_pkg::*;

    logic    clk = 0, start = 0, done;
    layer_t  layer;
    round_t  round;
    broken_t [1:0] broken, wanted;
    int      node = -1;
    npu core (.*);

    string program_file, bundle, out, sums, word, name, unused;
    int    file, to, index, count, number, status;

    task automatic tick;
        #1 clk = 1;
        #1 clk = 0;
    endtask

    // "-": the layer has none
    task automatic load_word(output string path);
        status = $fscanf(file, "%s", word);
        path   = word == "-" ? "" : {bundle, "/", word};
    endtask

    task automatic settings;
        if (!$value$plusargs("program=%s", program_file) || !$value$plusargs("bundle=%s", bundle) || !$value$plusargs("out=%s", out))
            $fatal(1, "+program=, +bundle= and +out= are needed");
        if (!$value$plusargs("sums=%s", sums)) sums = "";
        round = DOUBLE;
        if ($value$plusargs("round=%d", number)) round = round_t'(number);
        if ($value$plusargs("node=%d", number)) node = number;
        wanted = '0;
        if ($value$plusargs("quirk=%d", number)) wanted[0].kind = quirk_t'(number);
        if ($value$plusargs("value=%d", number)) wanted[0].value = number;
        if ($value$plusargs("quirk2=%d", number)) wanted[1].kind = quirk_t'(number);
        if ($value$plusargs("value2=%d", number)) wanted[1].value = number;
    endtask

    task automatic read_layer;
        for (int i = 0; i < $bits(layer_t) / 32; i++) begin // all fields are of 32 bits
            status = $fscanf(file, "%d", number);
            layer  = {layer[$bits(layer_t) - 33:0], number};
        end
        load_word(name);
        if (name != "") $readmemh(name, core.weights);
        load_word(name);
        if (name != "") $readmemh(name, core.bias);
        load_word(name);
        if (name != "") $readmemh(name, core.multiplier);
        load_word(name);
        if (name != "") $readmemh(name, core.shift);
    endtask

    task automatic write_out(string path, int from, int n, logic is_sum);
        to = $fopen(path, "w");
        if (to == 0) $fatal(1, "cannot write %s", path);
        for (int i = 0; i < n; i++)
            if (is_sum) $fdisplay(to, "%08x", core.sums[i]);
            else $fdisplay(to, "%02x", core.sram[from + i]);
        $fclose(to);
    endtask

    initial begin
        settings();
        file = $fopen(program_file, "r");
        if (file == 0) $fatal(1, "cannot read %s", program_file);
        while ($fscanf(file, "%s", word) == 1) begin
            if (word == "load") begin // load ADDRESS FILE
                status = $fscanf(file, "%d", number);
                load_word(name);
                $readmemh(name, core.sram, number);
            end else begin // layer INDEX FIELDS... FILES... NAME COUNT
                status = $fscanf(file, "%d", index);
                read_layer();
                broken = node < 0 || node == index ? wanted : '0;
                start = 1;
                tick();
                start = 0;
                while (!done) tick();
                tick();
                status = $fscanf(file, "%s %d", unused, count);
                write_out({out, "/", unused, ".hex"}, layer.out, count, 0);
                if (sums != "" && layer.op == CONV) write_out({sums, "/", unused, ".hex"}, 0, count, 1);
            end
        end
        $fclose(file);
        $finish;
    end
endmodule
