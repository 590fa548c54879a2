import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The adapter: runs a case on the engine, injects its failures, and reports observations.
 *
 * <p>It judges nothing and repairs nothing. stdout is the protocol, one JSON object a line; print messages of
 * your own to stderr. Run it with {@code java Adapter.java}: Java 17 or newer, and nothing else.
 *
 * <p>In this file, from the top: the adapter, the trivial engine that you replace by yours, the ten programs, JSON.
 */
public class Adapter {
    static final Map<String, Object> DESCRIPTION = Json.object(
            "protocol", 1,
            "engine", Json.object("name", "my-engine", "version", "0.1", "settings", Map.of()),
            "epochs", "given", // one epoch of the engine for each of the case; "own" if it places its borders itself
            "atomic", true, // all streams are committed in one act
            "snapshots", "aligned",
            "failures", List.of("crash", "restart"), // what the adapter can make happen; more: "kill:worker"
            "programs", Programs.NAMES);

    // Not System.out, which would speak the machine's character set; flushed with every line.
    static final PrintStream ANSWERS = new PrintStream(System.out, false, StandardCharsets.UTF_8);

    public static void main(String[] arguments) throws IOException {
        var requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            Map<String, Object> request = Json.objectIn(Json.read(line));
            switch ((String) request.get("do")) {
                case "start" -> say(DESCRIPTION);
                case "run" -> new CaseRunner(request).run();
                case "stop" -> System.exit(0);
                default -> System.err.println("not understood: " + line);
            }
        }
    }

    static void say(Map<String, Object> answer) {
        ANSWERS.print(Json.write(answer) + "\n");
        ANSWERS.flush();
    }
}

/** One case, from its start to its end, through all that happens to it. */
class CaseRunner {
    final Object id;
    final Map<String, Object> graph;
    final Map<String, Object> inputs;
    final List<Object> failures;
    final List<Object> shown;
    final Durable durable;
    int fired = 0; // failures happen in their order, each once

    CaseRunner(Map<String, Object> request) {
        id = request.get("id");
        shown = Json.listIn(request.get("streams"));
        Map<String, Object> asked = Json.objectIn(request.get("case"));
        graph = Json.objectIn(asked.get("graph"));
        inputs = Json.objectIn(asked.get("inputs"));
        failures = Json.listIn(asked.getOrDefault("failures", List.of()));
        durable = new Durable(graph);
    }

    /** Start the engine, or start it again: from what is durable, and from nothing else. */
    TrivialEngine start() {
        return new TrivialEngine(graph, inputs, durable);
    }

    void run() {
        int epochs = inputs.values().stream().mapToInt(each -> Json.listIn(each).size()).max().orElse(0);
        TrivialEngine engine = start();
        while (durable.epoch < epochs) {
            try {
                engine.runEpoch(this::aboutTo);
            } catch (Crashed crash) {
                happened(crash.getMessage());
                engine = start();
            }
            show();
            while (restartIsDue()) {
                engine = start();
                happened("started again with " + durable.epoch + " epochs committed");
                show();
            }
        }
        Adapter.say(Json.object("id", id, "end", "completed"));
    }

    /** Crash here, if the case says so. (If the epoch has fewer events, at its border.) */
    void aboutTo(String task, long epoch, Object event) {
        Map<String, Object> failure = nextFailure("crash");
        if (failure != null
                && failure.get("task").equals(task)
                && failure.get("epoch").equals(epoch)
                && (event.equals(failure.get("event")) || event.equals("border"))) {
            throw new Crashed(task + " died in epoch " + epoch + ", at " + event);
        }
    }

    boolean restartIsDue() {
        Map<String, Object> failure = nextFailure("restart");
        return failure != null && (Long) failure.get("epoch") <= durable.epoch;
    }

    /** The next failure of the case, if it is of this kind. */
    Map<String, Object> nextFailure(String kind) {
        Map<String, Object> failure = fired < failures.size() ? Json.objectIn(failures.get(fired)) : null;
        return failure != null && failure.get("kind").equals(kind) ? failure : null;
    }

    void happened(String evidence) {
        Adapter.say(Json.object("id", id, "fired", fired, "evidence", evidence));
        fired += 1;
    }

    /** What can be seen now: the committed epochs of the streams that were asked for. */
    void show() {
        Map<String, Object> streams = new LinkedHashMap<>();
        for (Object name : shown) {
            streams.put((String) name, durable.streams.get(name));
        }
        Adapter.say(Json.object("id", id, "streams", streams));
    }
}

// ------------------------------------------------------------------------------------------------------------------
// The trivial engine: replace it by yours.
//
// It runs a graph epoch by epoch, in memory. What it has computed in an epoch is volatile until all tasks have passed
// the border; then it is committed in one act, together with the state of every task. Durable is what survives a
// crash, and nothing else does.

/** A task has died, and everything volatile with it. */
class Crashed extends RuntimeException {
    Crashed(String how) {
        super(how);
    }
}

/** What a crash leaves: the committed epochs of every stream, and the state of every task at the last border. */
class Durable {
    final Map<String, List<Object>> streams = new HashMap<>();
    Map<String, Object> states = new HashMap<>();
    int epoch = 0;

    Durable(Map<String, Object> graph) {
        for (Object source : Json.listIn(graph.get("sources"))) {
            streams.put((String) source, new ArrayList<>());
        }
        for (Task task : Task.of(graph)) {
            streams.put(task.output(), new ArrayList<>());
            states.put(task.name(), Programs.initial(task.program()));
        }
    }

    /** One epoch, of all streams at once. */
    void commit(Map<String, List<Object>> committed, Map<String, Object> after) {
        committed.forEach((name, events) -> streams.get(name).add(events));
        states = after;
        epoch += 1;
    }
}

record Task(String name, List<Object> inputs, String output, Map<String, Object> program) {
    /** The tasks of a graph, each behind those that it reads from. */
    static List<Task> of(Map<String, Object> graph) {
        Set<Object> ready = new HashSet<>(Json.listIn(graph.get("sources")));
        List<Task> waiting = new ArrayList<>();
        for (Object each : Json.listIn(graph.get("tasks"))) {
            Map<String, Object> task = Json.objectIn(each);
            waiting.add(new Task(
                    (String) task.get("name"),
                    Json.listIn(task.get("inputs")),
                    (String) task.get("output"),
                    Json.objectIn(task.get("program"))));
        }
        List<Task> ordered = new ArrayList<>();
        while (!waiting.isEmpty()) {
            Task next = waiting.stream().filter(task -> ready.containsAll(task.inputs)).findFirst().orElseThrow();
            waiting.remove(next);
            ordered.add(next);
            ready.add(next.output);
        }
        return ordered;
    }
}

/** Is asked before every step, and may throw Crashed; `event` is a number, or "border". */
interface AboutTo {
    void step(String task, long epoch, Object event);
}

/** The graph, started from what is durable. After a crash, make a new one. */
class TrivialEngine {
    final List<Task> tasks;
    final Map<String, Object> inputs;
    final Durable durable;
    final Map<String, Object> states; // volatile

    TrivialEngine(Map<String, Object> graph, Map<String, Object> inputs, Durable durable) {
        this.tasks = Task.of(graph);
        this.inputs = inputs;
        this.durable = durable;
        this.states = new HashMap<>(durable.states);
    }

    /** The next epoch. */
    void runEpoch(AboutTo aboutTo) {
        int epoch = durable.epoch + 1;
        Map<String, List<Object>> streams = new HashMap<>();
        inputs.forEach((name, epochs) -> streams.put(name, Json.listIn(Json.listIn(epochs).get(epoch - 1))));
        for (Task task : tasks) {
            List<Object> output = new ArrayList<>();
            long number = 0;
            for (Object event : takenInTurn(task.inputs().stream().map(streams::get).toList())) {
                aboutTo.step(task.name(), epoch, number++);
                states.put(task.name(), Programs.step(task.program(), states.get(task.name()), event, output));
            }
            aboutTo.step(task.name(), epoch, "border");
            streams.put(task.output(), output);
        }
        durable.commit(streams, new HashMap<>(states));
    }

    /** The events of several inputs, one of each after the other; any order would do that keeps each input's own. */
    static List<Object> takenInTurn(List<List<Object>> inputs) {
        List<Object> events = new ArrayList<>();
        int turns = inputs.stream().mapToInt(List::size).max().orElse(0);
        for (int turn = 0; turn < turns; turn++) {
            for (List<Object> input : inputs) {
                if (turn < input.size()) {
                    events.add(input.get(turn));
                }
            }
        }
        return events;
    }
}

// ------------------------------------------------------------------------------------------------------------------

/**
 * The ten programs that a task can run.
 *
 * <p>States are never changed, only replaced: so a snapshot of one is a reference to it.
 */
class Programs {
    static final long P = 2147483647L;
    static final List<String> NAMES = List.of(
            "map", "filter", "repeat", "sum", "count", "digest", "distinct", "batch", "average", "keyed_sum");

    /** A sum, and how many events are in it. */
    record Sum(long total, long number) {}

    static Object initial(Map<String, Object> program) {
        return switch ((String) program.get("op")) {
            case "sum", "count" -> 0L;
            case "digest" -> 7L;
            case "distinct" -> Set.of();
            case "batch", "average" -> new Sum(0, 0);
            case "keyed_sum" -> Map.of();
            default -> "none";
        };
    }

    /** One event: adds what is emitted to `out`, and gives the next state. */
    static Object step(Map<String, Object> program, Object state, Object event, List<Object> out) {
        String op = (String) program.get("op");
        if (event instanceof Long w) {
            return step(op, program, state, w, out);
        }
        if (op.equals("average") && event.equals("reset")) {
            return initial(program);
        }
        out.add(event); // Other text passes through and changes nothing.
        return state;
    }

    @SuppressWarnings("unchecked")
    private static Object step(String op, Map<String, Object> program, Object state, long w, List<Object> out) {
        switch (op) {
            case "map" -> out.add((w * (Long) program.get("mul") + (Long) program.get("add")) % P);
            case "filter" -> {
                if (w % (Long) program.get("mod") == (Long) program.get("keep")) {
                    out.add(w);
                }
            }
            case "repeat" -> {
                for (long time = 0; time < (Long) program.get("times"); time++) {
                    out.add(w);
                }
            }
            case "sum" -> {
                return emitted(((Long) state + w) % P, out);
            }
            case "count" -> {
                return emitted((Long) state + 1, out);
            }
            case "digest" -> {
                return emitted(((Long) state * 31 + w + 1) % P, out);
            }
            case "distinct" -> {
                Set<Long> seen = new HashSet<>((Set<Long>) state);
                if (seen.add(w)) {
                    out.add(w);
                }
                return seen;
            }
            case "batch" -> {
                Sum sum = (Sum) state;
                Sum next = new Sum((sum.total + w) % P, sum.number + 1);
                if (next.number < (Long) program.get("size")) {
                    return next;
                }
                out.add(next.total);
                return new Sum(0, 0);
            }
            case "average" -> {
                Sum sum = (Sum) state;
                Sum next = new Sum(sum.total + w, sum.number + 1);
                out.add(next.total / next.number);
                return next;
            }
            case "keyed_sum" -> {
                Map<Long, Long> sums = new HashMap<>((Map<Long, Long>) state);
                long key = w % (Long) program.get("keys");
                sums.put(key, emitted((sums.getOrDefault(key, 0L) + w) % P, out));
                return sums;
            }
            default -> throw new IllegalArgumentException("no program " + op);
        }
        return state;
    }

    private static Long emitted(Long value, List<Object> out) {
        out.add(value);
        return value;
    }
}

// ------------------------------------------------------------------------------------------------------------------

/** Just enough JSON for the protocol. Replace it by a library if you have one at hand. */
class Json {
    private final String text;
    private int at = 0;

    private Json(String text) {
        this.text = text;
    }

    /** Objects become Map, arrays List, integers Long, fractions Double. */
    static Object read(String text) {
        Json json = new Json(text);
        Object value = json.value();
        json.space();
        if (json.at < text.length()) {
            throw json.wrong();
        }
        return value;
    }

    static String write(Object value) {
        StringBuilder out = new StringBuilder();
        write(value, out);
        return out.toString();
    }

    static Map<String, Object> object(Object... keysAndValues) {
        Map<String, Object> object = new LinkedHashMap<>();
        for (int i = 0; i < keysAndValues.length; i += 2) {
            object.put((String) keysAndValues[i], keysAndValues[i + 1]);
        }
        return object;
    }

    @SuppressWarnings("unchecked")
    static Map<String, Object> objectIn(Object value) {
        return (Map<String, Object>) value;
    }

    @SuppressWarnings("unchecked")
    static List<Object> listIn(Object value) {
        return (List<Object>) value;
    }

    private static void write(Object value, StringBuilder out) {
        if (value instanceof Map<?, ?> map) {
            String before = "{";
            for (var entry : map.entrySet()) {
                out.append(before);
                write(entry.getKey(), out);
                out.append(": ");
                write(entry.getValue(), out);
                before = ", ";
            }
            out.append(map.isEmpty() ? "{}" : "}");
        } else if (value instanceof List<?> list) {
            String before = "[";
            for (Object item : list) {
                out.append(before);
                write(item, out);
                before = ", ";
            }
            out.append(list.isEmpty() ? "[]" : "]");
        } else if (value instanceof String string) {
            out.append('"');
            for (char c : string.toCharArray()) {
                if (c == '"' || c == '\\') {
                    out.append('\\').append(c);
                } else if (c < ' ' || c > '~') {
                    out.append(String.format("\\u%04x", (int) c));
                } else {
                    out.append(c);
                }
            }
            out.append('"');
        } else {
            out.append(value);
        }
    }

    private Object value() {
        space();
        switch (peek()) {
            case '{':
                return members();
            case '[':
                return items();
            case '"':
                return string();
            case 't':
                return word("true", true);
            case 'f':
                return word("false", false);
            case 'n':
                return word("null", null);
            default:
                return number();
        }
    }

    private Map<String, Object> members() {
        Map<String, Object> object = new LinkedHashMap<>();
        for (boolean more = opens('}'); more; more = goesOn('}')) {
            space();
            String key = string();
            space();
            take(':');
            object.put(key, value());
        }
        return object;
    }

    private List<Object> items() {
        List<Object> list = new ArrayList<>();
        for (boolean more = opens(']'); more; more = goesOn(']')) {
            list.add(value());
        }
        return list;
    }

    private boolean opens(char end) {
        at++;
        space();
        return !closes(end);
    }

    private boolean goesOn(char end) {
        space();
        if (closes(end)) {
            return false;
        }
        take(',');
        return true;
    }

    private boolean closes(char end) {
        boolean closes = peek() == end;
        at += closes ? 1 : 0;
        return closes;
    }

    private String string() {
        StringBuilder out = new StringBuilder();
        take('"');
        while (peek() != '"') {
            char c = text.charAt(at++);
            out.append(c == '\\' ? escaped() : c);
        }
        at++;
        return out.toString();
    }

    private char escaped() {
        char c = peek();
        at++;
        switch (c) {
            case 'b':
                return '\b';
            case 'f':
                return '\f';
            case 'n':
                return '\n';
            case 'r':
                return '\r';
            case 't':
                return '\t';
            case 'u':
                at += 4;
                return (char) Integer.parseInt(text.substring(at - 4, at), 16);
            default:
                return c;
        }
    }

    private Object word(String word, Object value) {
        if (!text.startsWith(word, at)) {
            throw wrong();
        }
        at += word.length();
        return value;
    }

    private Object number() {
        int from = at;
        while (at < text.length() && "+-.eE0123456789".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
        String digits = text.substring(from, at);
        if (digits.isEmpty()) {
            throw wrong();
        }
        return digits.matches("-?[0-9]+") ? (Object) Long.valueOf(digits) : (Object) Double.valueOf(digits);
    }

    private void space() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
    }

    private char peek() {
        if (at == text.length()) {
            throw wrong();
        }
        return text.charAt(at);
    }

    private void take(char c) {
        if (peek() != c) {
            throw wrong();
        }
        at++;
    }

    private IllegalArgumentException wrong() {
        return new IllegalArgumentException("no JSON at character " + at + " of: " + text);
    }
}
