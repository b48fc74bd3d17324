/* `embipc sweep`: the scene of each run, records, shards, what is done already, failures, a stop, the table, GNU
 * parallel. */
#define _POSIX_C_SOURCE 200809L   /* popen */
#include "../embipc.h"
#include "test.h"
#include "tool_command.h"
#include "../tools/sweep.c"

static const char *place(const char *name) { return command_place("test_tool_sweep", name); }

static const char scene_text[] =
    "{\"version\":1,\"time_step\":0.01,\"duration\":0.2,\"bodies\":["
    "{\"name\":\"ground\",\"kind\":\"fixed\",\"shape\":\"plane\",\"friction\":0.1},"
    "{\"name\":\"box\",\"kind\":\"affine\",\"shape\":\"box\",\"size\":[0.1,0.1,0.1],\"position\":[0,0,0.06],"
    "\"velocity\":[1,0,0],"
    "\"friction\":0.5},"
    "{\"kind\":\"full\",\"shape\":\"box\",\"size\":[0.1,0.1,0.1],\"resolution\":2,\"position\":[0,0.3,0.06]}]}";
#define SETS "--set body.material.young=1e4,1e6 --set contact.dhat=1e-3,2e-3,3e-3"

/* Runs a command in which $ stands for the directory of this test. */
static int run(const char *text)
{
    char line[8192];
    size_t n = 0;
    for (; *text && n < 7000; text++) {
        if (*text == '$') n += (size_t)sprintf(line + n, "%s", place(""));
        else line[n++] = *text;
    }
    line[n] = 0;
    return command(line);
}

static int begin(void)
{
    return run("rm -rf $ && mkdir -p $") == 0 && command_put(place("scene.json"), scene_text);
}

/* The scene with one set, as it is read. */
static int read_with(scene *s, const char *set)
{
    sweep_options o;
    sweep w;
    tool_text text = { NULL, 0, 0 };
    int ok;
    memset(&o, 0, sizeof o);
    memset(&w, 0, sizeof w);
    memset(s, 0, sizeof *s);
    o.scene = "x.json";
    o.set_count = 1;
    w.o = &o;
    w.scene = (char *)tool_alloc(sizeof scene_text, 1);
    memcpy(w.scene, scene_text, sizeof scene_text);
    w.scene_size = sizeof scene_text - 1;
    ok = sweep_read_set(&w.set[0], set, &w.e) && sweep_try(&w) && sweep_scene(&w, w.set[0].value_count - 1, &text)
         && scene_parse(s, "x.json", text.data, (size_t)text.length, &w.e);
    for (int k = 0; k < w.set[0].value_count; k++) free(w.set[0].value[k]);
    free(w.set[0].value);
    free(w.set[0].text);
    free(w.scene);
    tool_text_free(&text);
    return ok;
}

/* Paths set what they name and nothing else; the last of the values is taken. */
static void test_paths(void)
{
    static const struct { const char *set; double dhat, friction[3], young[3]; } cases[] = {
        { "contact.dhat=1,2", 2, { 0.1, 0.5, 0 }, { 1e5, 1e5, 1e5 } },
        { "body.material.young=7", 0, { 0.1, 0.5, 0 }, { 1e5, 7, 7 } },
        { "bodies.*.friction=0.25", 0, { 0.25, 0.25, 0.25 }, { 1e5, 1e5, 1e5 } },
        { "bodies.1.friction=0.25", 0, { 0.1, 0.25, 0 }, { 1e5, 1e5, 1e5 } },
        { "box.friction=3,0.25", 0, { 0.1, 0.25, 0 }, { 1e5, 1e5, 1e5 } },
        { "body 3.material={\"young\":9,\"density\":2},{\"young\":8}", 0, { 0.1, 0.5, 0 }, { 1e5, 1e5, 8 } } };
    scene s;
    for (int i = 0; i < (int)(sizeof cases / sizeof *cases); i++) {
        ENSURE(read_with(&s, cases[i].set));
        ENSURE(s.world.dhat == cases[i].dhat && s.body_count == 3);
        for (int b = 0; b < 3 && b < s.body_count; b++)
            ENSURE(s.body[b].def.friction == cases[i].friction[b] && s.body[b].def.material.young == cases[i].young[b]);
        scene_free(&s);
    }
    ENSURE(read_with(&s, "integrator=backward_euler,bdf2") && s.world.integrator == EMBIPC_BDF2);
    scene_free(&s);
    ENSURE(read_with(&s, "gravity=[0,0,-1],[1,2,3]") && s.world.gravity[0] == 1 && s.world.gravity[2] == 3);
    scene_free(&s);
    {
        static const char *const bad[] = { "box.friktion=1",      "bax.friction=1",
                                           "time_step",           "time_step=",
                                           "time_step=1,,2",      "=1",
                                           "box..friction=1",     "joints.0.motor.limit=1",
                                           "time_step=[1",        "time_step=0.1.friction=1",
                                           "bodies.box.name.x=1", "a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r=1" };
        for (int i = 0; i < (int)(sizeof bad / sizeof *bad); i++) {
            if (read_with(&s, bad[i])) printf("  %s is accepted\n", bad[i]);
            ENSURE(!read_with(&s, bad[i]));
            scene_free(&s);
        }
    }
}

/* Every combination has its record, and what it says is what embipc run comes to with these values. */
static void test_records(void)
{
    char *text, *at;
    size_t size;
    tool_error e;
    if (command_missing()) SKIP("no tool beside this test");
    ENSURE(begin());
    ENSURE(run("@ sweep $scene.json " SETS " --out $all") == 0
           && command_says("6 made, 0 of them failed, 0 were there"));
    ENSURE(run("ls $all") == 0 && command_says("run_000006.json\nsweep.json\n") && !strstr(command_said, "new"));
    text = tool_read_file(place("all/run_000005.json"), 1 << 20, &size, &e);
    ENSURE(text && strchr(text, '\n') == text + size - 1);
    ENSURE(text
           && strstr(text, "{ \"run\": 5, \"set\": { \"body.material.young\": 1e6, \"contact.dhat\": 2e-3 }, "
                           "\"exit_code\": 0, \"steps\": 20,"));
    /* the same by hand, and where box ends */
    ENSURE(run("sed -e 's/\"friction\":0.5/\"friction\":0.5,\"material\":{\"young\":1e6}/' -e "
               "'s/\"resolution\"/\"material\":{\"young\":1e6},\"resolution\"/' "
               "-e 's/\"time_step\"/\"contact\":{\"dhat\":2e-3},\"time_step\"/' $scene.json > $by_hand.json")
           == 0);
    ENSURE(run("@ run $by_hand.json --quiet --out $by_hand && grep '^20,.*,box,' $by_hand/bodies.csv | cut -d, -f4")
           == 0);
    command_said[strcspn(command_said, "\n")] = 0;
    at = text ? strstr(text, "{ \"name\": \"box\", \"centre_m\": [") : NULL;
    ENSURE(at && command_said[0] && strncmp(strchr(at, '[') + 1, command_said, strlen(command_said)) == 0);
    ENSURE(text && !strstr(text, "\"forces\": []") && strstr(text, "\"body_b\": \"body 3\""));
    free(text);
    ENSURE(run("@ sweep --table $all | head -1") == 0
           && command_says("run,set.body.material.young,set.contact.dhat,exit_code,steps,"));
    ENSURE(command_says(",bodies.box.centre_m.0,") && command_says(",forces.ground-box.force_N.2,"));
    ENSURE(run("@ sweep --table $all | wc -l") == 0 && atoi(command_said) == 7);
    ENSURE(run("@ sweep --table $all | cut -d, -f1-5 | tail -2 | head -1") == 0
           && command_says("5,1000000,0.002,0,20\n"));
}

/* What is done is not run again: a record of our own stays. Another scene or other values are refused. */
static void test_resume(void)
{
    if (command_missing()) SKIP("no tool beside this test");
    ENSURE(begin());
    ENSURE(run("@ sweep $scene.json " SETS " --out $all") == 0);
    ENSURE(run("rm $all/run_000004.json && echo '{\"run\": 2}' > $all/run_000002.json") == 0);
    ENSURE(run("@ sweep --table $all") == 1 && command_says("1 of 6 runs have no record yet"));
    ENSURE(run("@ sweep $scene.json " SETS " --out $all") == 0
           && command_says("1 made, 0 of them failed, 5 were there"));
    ENSURE(command_says("run 4 of 6") && !strstr(command_said, "run 2 of 6"));
    ENSURE(run("cat $all/run_000002.json") == 0 && command_says("{\"run\": 2}\n"));
    ENSURE(run("@ sweep $scene.json --set body.material.young=1e4,1e5 --out $all") == 2
           && command_says("of another sweep"));
    ENSURE(run("@ sweep $scene.json " SETS " --duration 1 --out $all") == 2 && command_says("of another sweep"));
    ENSURE(run("sed -i s/0.06/0.07/ $scene.json && @ sweep $scene.json " SETS " --out $all") == 2
           && command_says("older scene"));
}

/* Shards make each run once, with the records of one process but for times. */
static void test_shards(void)
{
    if (command_missing()) SKIP("no tool beside this test");
    ENSURE(begin());
    ENSURE(run("@ sweep $scene.json " SETS " --out $all") == 0);
    ENSURE(run("@ sweep $scene.json " SETS " --out $parts --shard 3/4") == 0 && command_says("shard 3 of 4: 1 made"));
    ENSURE(run("@ sweep $scene.json " SETS " --out $parts --shard 1/4 --threads 2") == 0
           && command_says("shard 1 of 4: 2 made"));
    ENSURE(run("(@ sweep $scene.json " SETS " --out $parts --shard 2/4 & @ sweep $scene.json " SETS
               " --out $parts --shard 4/4; wait)")
           == 0);
    ENSURE(command_says("shard 2 of 4: 2 made") && command_says("shard 4 of 4: 1 made"));
    ENSURE(run("cat $all/run_* | sed 's/\"wall_s\".*//' > $a; cat $parts/run_* | sed 's/\"wall_s\".*//' > $b; cmp $a "
               "$b && wc -l < $a")
           == 0);
    ENSURE(atoi(command_said) == 6);
    ENSURE(run("@ sweep $scene.json --out $x --shard 0/4") == 2
           && run("@ sweep $scene.json --out $x --shard 5/4") == 2);
    ENSURE(run("@ sweep $scene.json --out $x --shard 1") == 2);
}

/* A run that fails has a record that says why, and is made again only when asked for. */
static void test_failures(void)
{
    if (command_missing()) SKIP("no tool beside this test");
    ENSURE(begin());
    ENSURE(run("@ sweep $scene.json --set box.friction=1,-1 --out $all") == 1
           && command_says("2 made, 1 of them failed"));
    ENSURE(run("cat $all/run_000002.json") == 0 && command_says("\"exit_code\": 2, \"error\": \"")
           && command_says("expected a number >= 0"));
    ENSURE(run("@ sweep $scene.json --set box.friction=1,-1 --out $all") == 0
           && command_says("0 made, 0 of them failed, 2 were there"));
    ENSURE(run("@ sweep $scene.json --set box.friction=1,-1 --out $all --retry") == 1
           && command_says("1 made, 1 of them failed, 1 were there"));
    /* boxes that overlap at the start: a scene that can be read, but not built */
    ENSURE(run("@ sweep $scene.json --set box.position=[0,0,0.06],[0,0.3,0.1] --out $cross") == 1);
    ENSURE(run("cat $cross/run_000002.json") == 0 && command_says("\"error\": \""));
    ENSURE(run("@ sweep --table $cross") == 0 && command_says(",error\n"));
    ENSURE(run("echo [] > $cross/sweep.json; @ sweep --table $cross") == 2
           && command_says("/sweep.json: found no number of \"runs\", expected what embipc sweep writes"));
    ENSURE(run("@ sweep $scene.json --set time_step=0.01 --out $scene.json/x") == 2
           && command_says("cannot be written"));
}

/* A sweep that is stopped leaves no record of the run it was in. */
/* What could not be told apart in a record, and lists that are not there. */
static void test_refused_paths(void)
{
    if (command_missing()) SKIP("no tool beside this test");
    ENSURE(begin());
    ENSURE(run("@ sweep $scene.json --set contact.dhat=1e-3 --set contact.dhat=2e-3 --out $twice") == 2);
    ENSURE(command_says("found --set contact.dhat twice"));
    ENSURE(run("@ sweep $scene.json --set time_step=0.01,0.01 --out $twice") == 2 && command_says("0.01 twice"));
    ENSURE(run("@ sweep $scene.json --set joints.0.motor.limit=1 --out $twice") == 2);
    ENSURE(command_says("found nothing of that name"));
    ENSURE(run("@ sweep $scene.json --set pairs.0.friction=1 --out $twice") == 2);
    ENSURE(command_says("found nothing of that name"));
    ENSURE(run("ls $twice") != 0);
}

static void test_stop(void)
{
    if (command_missing()) SKIP("no tool beside this test");
    ENSURE(begin());
    ENSURE(command_put(place("stop.sh"), "\"$1\" sweep \"$2\" --duration 1e6 --out \"$3\" &\nwhile [ ! -e "
                                         "\"$3/sweep.json\" ]; do sleep 0.1; done\nsleep 0.5\nkill -TERM "
                                         "$!\nwait $!\necho \"code $?\"\nls \"$3\"\n"));
    ENSURE(run("sh $stop.sh @ $scene.json $long") == 0);
    ENSURE(command_says("sweep.json\n") && !strstr(command_said, "run_0") && !strstr(command_said, "code 0"));
}

/* The commands of docs/sweep.md as they stand there, with launchers of ours that set what the real ones do. */
static void test_launchers(void)
{
    static const char *const launcher[] = {
        "sbatch",
        "n=${1#--array=1-}; shift 3; for i in $(seq $n); do SLURM_ARRAY_TASK_ID=$i sh -c \"$1\" || exit 1; done",
        "srun",
        "n=${1#--ntasks=}; shift; for i in $(seq 0 $((n-1))); do SLURM_PROCID=$i SLURM_NTASKS=$n \"$@\" || exit 1; "
        "done",
        "mpirun",
        "n=$2; shift 2; for i in $(seq 0 $((n-1))); do OMPI_COMM_WORLD_RANK=$i OMPI_COMM_WORLD_SIZE=$n \"$@\" || "
        "exit 1; done",
        "mpiexec",
        "n=$2; shift 2; for i in $(seq 0 $((n-1))); do PMI_RANK=$i PMI_SIZE=$n \"$@\" || exit 1; done"
    };
    char tool[4096];
    if (command_missing()) SKIP("no tool beside this test");
    snprintf(tool, sizeof tool, "mkdir -p %s && ln -s \"$(realpath @)\" %s/embipc", place("bin"), place("bin"));
    ENSURE(begin() && command(tool) == 0);
    for (int i = 0; i < 4; i++) {
        char text[1024], name[64], line[2048];
        snprintf(name, sizeof name, "bin/%s", launcher[2 * i]);
        snprintf(text, sizeof text, "#!/bin/sh\n%s\n", launcher[2 * i + 1]);
        ENSURE(command_put(place(name), text));
        snprintf(line, sizeof line, "chmod +x %s", place(name));
        ENSURE(command(line) == 0);
    }
    for (int i = 0; i < 4; i++) {
        char line[2048];
        snprintf(line, sizeof line,
                 "grep '^    %s ' docs/sweep.md | sed -e 's| SET | " SETS
                 " |' -e 's|scene.json|%s|' -e 's|--out DIR|--out %s|' > %s && PATH=%s:$PATH sh %s",
                 launcher[2 * i], place("scene.json"), place(launcher[2 * i]), place("job.sh"), place("bin"),
                 place("job.sh"));
        ENSURE(command(line) == 0);
        if (!strstr(command_said, "shard 16 of 16")) printf("  %s\n", command_said);
        ENSURE(strstr(command_said, "shard 16 of 16") != NULL);
        snprintf(line, sizeof line, "cat %s/run_*.json | wc -l", place(launcher[2 * i]));
        ENSURE(command(line) == 0 && atoi(command_said) == 6);
    }
}

static void test_parallel(void)
{
    if (command_missing()) SKIP("no tool beside this test");
    if (command("parallel --version 2>&1 | grep -q '^GNU parallel'") != 0) SKIP("no GNU parallel (Debian: parallel)");
    ENSURE(begin());
    ENSURE(run("parallel -j 3 @ sweep $scene.json " SETS " --out $all --shard {}/4 ::: 1 2 3 4") == 0);
    ENSURE(run("cat $all/run_*.json | wc -l") == 0 && atoi(command_said) == 6);
    ENSURE(run("parallel -j 3 @ sweep $scene.json " SETS " --out $all --shard {}/4 ::: 1 2 3 4") == 0);
    ENSURE(!strstr(command_said, " 1 made") && command_says("0 made"));
}

int main(int argc, char **argv)
{
    test_unused();
    test_begin(argc, argv);
    command_begin(argv[0]);
    RUN(paths);
    RUN(records);
    RUN(resume);
    RUN(shards);
    RUN(failures);
    RUN(refused_paths);
    RUN(stop);
    RUN(launchers);
    RUN(parallel);
    return test_end(__FILE__);
}
