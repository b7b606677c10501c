package main

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const hello = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"

// serve answers requests by calling answer, which gets the number of the request, from 1, and that on
// its connection, and returns whether the connection goes on.
func serve(t *testing.T, answer func(conn *net.TCPConn, number, onConnection int64) bool) string {
	t.Helper()
	var count atomic.Int64
	return listen(t, func(conn net.Conn) {
		reader := bufio.NewReader(conn)
		for on := int64(1); ; on++ {
			request, err := http.ReadRequest(reader)
			if err != nil {
				return
			}
			_, _ = io.Copy(io.Discard, request.Body)
			if !answer(conn.(*net.TCPConn), count.Add(1), on) {
				return
			}
		}
	})
}

// listen passes each connection to take, and closes it afterwards.
func listen(t *testing.T, take func(net.Conn)) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				take(conn)
			}()
		}
	}()
	return listener.Addr().String()
}

func always(text string, goesOn bool) func(*net.TCPConn, int64, int64) bool {
	return func(conn *net.TCPConn, _, _ int64) bool {
		_, _ = io.WriteString(conn, text)
		return goesOn
	}
}

// loaded sends 100 requests over two connections.
func loaded(t *testing.T, address string, change func(*Task)) *Report {
	t.Helper()
	task := &Task{
		Address:            address,
		Request:            []byte("GET / HTTP/1.1\r\nHost: test\r\n\r\n"),
		Status:             200,
		Connections:        2,
		KeepAlive:          true,
		Requests:           100,
		TimeoutNanoseconds: int64(10 * time.Second),
		ResolutionSeconds:  1e-6,
	}
	if change != nil {
		change(task)
	}
	report, err := load(task, edge{start: func() error { return nil }, end: func() {}})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func expect[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %v, expected %v", what, got, want)
	}
}

// failures returns those that there were, by name.
func failures(report *Report) string {
	found := map[string]int64{}
	for failure, count := range report.Seen.Failures {
		if count > 0 {
			found[Failure(failure).String()] = count
		}
	}
	return fmt.Sprint(found)
}

func TestACorrectServiceKeepsItsConnections(t *testing.T) {
	report := loaded(t, serve(t, always(hello, true)), nil)
	expect(t, "answers", report.RetCodes[200], 100)
	expect(t, "failures", failures(report), "map[]")
	expect(t, "connections", report.Seen.Connections, 0)
	expect(t, "sizes", report.Seen.Bytes, Sizes{100, 500, 5, 5})
	expect(t, "timed", report.DurationHistogram.Count, 100)
}

func TestConnectionsAreKeptWhateverTheStatusIs(t *testing.T) {
	for _, status := range []int{204, 302, 304, 404, 418, 500, 503} {
		text := fmt.Sprintf("HTTP/1.1 %d X\r\nContent-Length: 0\r\n\r\n", status)
		if status == 204 || status == 304 {
			text = fmt.Sprintf("HTTP/1.1 %d X\r\n\r\n", status)
		}
		report := loaded(t, serve(t, always(text, true)), func(task *Task) { task.Status = status })
		expect(t, "answers", report.RetCodes[status], 100)
		expect(t, "connections", report.Seen.Connections, 0)
		expect(t, "successes", report.ErrorsDurationHistogram.Count, 0)
	}
}

func TestAnUnexpectedStatusIsAFailureWithItsTime(t *testing.T) {
	report := loaded(t, serve(t, func(conn *net.TCPConn, number, _ int64) bool {
		text := hello
		if number%4 == 0 {
			text = "HTTP/1.1 503 X\r\nContent-Length: 0\r\n\r\n"
		}
		_, _ = io.WriteString(conn, text)
		return true
	}), nil)
	expect(t, "shed", report.RetCodes[503], 25)
	expect(t, "in the errors", report.ErrorsDurationHistogram.Count, 25)
	expect(t, "sizes of the expected", report.Seen.Bytes.Count, 75)
	expect(t, "failures without an answer", failures(report), "map[]")
}

func TestAnAnswerWithoutALengthEndsWithItsConnectionAndIsTimedToItsEnd(t *testing.T) {
	const wait = 20 * time.Millisecond
	report := loaded(t, serve(t, func(conn *net.TCPConn, _, _ int64) bool {
		_, _ = io.WriteString(conn, "HTTP/1.0 200 OK\r\n\r\n")
		time.Sleep(wait)
		_, _ = io.WriteString(conn, "hello")
		return false
	}), func(task *Task) { task.Requests = 10 })
	expect(t, "answers", report.RetCodes[200], 10)
	expect(t, "announced", report.Seen.Announced, 10)
	expect(t, "bytes", report.Seen.Bytes.Min, 5)
	if fastest := report.DurationHistogram.Min; fastest < wait.Seconds() {
		t.Errorf("an answer took %v s", fastest)
	}
}

func TestATruncatedAnswerIsAFailure(t *testing.T) {
	for _, half := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
		"HTTP/1.1 200 OK\r\nContent-Le",
	} {
		report := loaded(t, serve(t, func(conn *net.TCPConn, number, _ int64) bool {
			if number%5 == 0 {
				_, _ = io.WriteString(conn, half)
				return false
			}
			_, _ = io.WriteString(conn, hello)
			return true
		}), nil)
		expect(t, half, failures(report), "map[cut:20]")
		expect(t, "no status", report.RetCodes[noAnswer], 20)
	}
}

func TestAResetInTheBodyIsACut(t *testing.T) {
	report := loaded(t, serve(t, func(conn *net.TCPConn, number, _ int64) bool {
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello")
		time.Sleep(2 * time.Millisecond)
		_ = conn.SetLinger(0)
		return false
	}), func(task *Task) { task.Requests = 10 })
	expect(t, "failures", failures(report), "map[cut:10]")
}

func TestAKeptConnectionThatIsClosedWithoutAnAnswerIsAFailure(t *testing.T) {
	report := loaded(t, serve(t, func(conn *net.TCPConn, number, _ int64) bool {
		if number%10 == 0 {
			return false
		}
		_, _ = io.WriteString(conn, hello)
		return true
	}), func(task *Task) { task.Requests = 1000 })
	expect(t, "failures", failures(report), "map[closed:100]")
	expect(t, "sent again", report.Seen.Resent, 0)
}

func TestAConnectionThatEndsAfterAnAnswerIsNoFailure(t *testing.T) {
	for _, announced := range []bool{true, false} {
		for _, each := range []int64{1, 10} {
			report := loaded(t, serve(t, func(conn *net.TCPConn, _, on int64) bool {
				text := hello
				if announced && on == each {
					text = strings.Replace(hello, "\r\n", "\r\nConnection: close\r\n", 1)
				}
				_, _ = io.WriteString(conn, text)
				return on < each
			}), func(task *Task) { task.Requests = 1000 })
			expect(t, "failures", failures(report), "map[]")
			expect(t, "answers", report.RetCodes[200], 1000)
			// The connections that are open at both ends of the load carried fewer.
			opened, want := report.Seen.Connections, 1000/each
			if opened < want-4 || opened > want+4 {
				t.Errorf("announced %v, each %d: %d connections, expected %d", announced, each, opened, want)
			}
		}
	}
}

func TestAResetAfterTheRequestWasReceivedIsAFailure(t *testing.T) {
	report := loaded(t, serve(t, func(conn *net.TCPConn, number, _ int64) bool {
		if number%10 == 0 {
			control(t, conn, func(fd int) error {
				return unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_QUICKACK, 1)
			})
			_ = conn.SetLinger(0)
			return false
		}
		_, _ = io.WriteString(conn, hello)
		return true
	}), nil)
	expect(t, "failures", failures(report), "map[closed:10]")
	expect(t, "sent again", report.Seen.Resent, 0)
}

func control(t *testing.T, conn *net.TCPConn, do func(fd int) error) {
	t.Helper()
	raw, err := conn.SyscallConn()
	if err != nil {
		t.Error(err)
		return
	}
	var refused error
	err = raw.Control(func(fd uintptr) { refused = do(int(fd)) })
	if err := errors.Join(err, refused); err != nil {
		t.Error(err)
	}
}

func TestTwoAnswersToOneRequestAreAnExcess(t *testing.T) {
	report := loaded(t, serve(t, always(hello+hello, true)), nil)
	expect(t, "failures", failures(report), "map[excess:100]")
}

func TestASecondAnswerIsAnExcessHoweverLateItComes(t *testing.T) {
	for _, gap := range []time.Duration{0, 200 * time.Microsecond, 2 * time.Millisecond} {
		report := loaded(t, serve(t, func(conn *net.TCPConn, number, _ int64) bool {
			time.Sleep(time.Millisecond)
			_, _ = io.WriteString(conn, hello)
			if number%10 == 0 {
				time.Sleep(gap)
				_, _ = io.WriteString(conn, hello)
			}
			return true
		}), func(task *Task) { task.Requests = 500 })
		// One that closes a connection may hide those before it.
		excess := report.Seen.Failures[Excess]
		if excess < 10 || excess > 50 {
			t.Errorf("%v: %d of about 50: %+v", gap, excess, report.Seen)
		}
		expect(t, "answered", report.RetCodes[200], 500-excess)
		expect(t, "no answer of their own", report.RetCodes[noAnswer], excess)
	}
}

func TestBytesAfterTheLastAnswerOfAConnectionAreAnExcess(t *testing.T) {
	report := loaded(t, serve(t, func(conn *net.TCPConn, _, _ int64) bool {
		_, _ = io.WriteString(conn, strings.Replace(hello, "\r\n", "\r\nConnection: close\r\n", 1))
		time.Sleep(time.Millisecond)
		_, _ = io.WriteString(conn, "more")
		return false
	}), func(task *Task) { task.KeepAlive = false })
	expect(t, "failures", failures(report), "map[excess:100]")
}

func TestALengthThatIsTooLongTimesOut(t *testing.T) {
	text := "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello"
	report := loaded(t, serve(t, always(text, true)), func(task *Task) {
		task.Requests, task.TimeoutNanoseconds = 4, int64(50*time.Millisecond)
	})
	expect(t, "failures", failures(report), "map[timedOut:4]")
}

func TestAnInterimAnswerIsSkipped(t *testing.T) {
	report := loaded(t, serve(t, always("HTTP/1.1 100 Continue\r\n\r\n"+hello, true)), nil)
	expect(t, "answers", report.RetCodes[200], 100)
	expect(t, "connections", report.Seen.Connections, 0)
}

func TestAnAnswerThatIsNotHTTPIsReportedAsSuch(t *testing.T) {
	report := loaded(t, serve(t, always("SSH-2.0-x\r\n", true)), func(task *Task) { task.Requests = 4 })
	expect(t, "failures", failures(report), "map[malformed:4]")
}

func TestManySmallChunksAreRead(t *testing.T) {
	text := "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" +
		strings.Repeat("1\r\nx\r\n", 100_000) + "0\r\n\r\n"
	report := loaded(t, serve(t, always(text, true)), func(task *Task) { task.Requests = 4 })
	expect(t, "sizes", report.Seen.Bytes, Sizes{4, 400_000, 100_000, 100_000})
	expect(t, "connections", report.Seen.Connections, 0)
}

func TestAnswersThatGrowAreMeasured(t *testing.T) {
	report := loaded(t, serve(t, func(conn *net.TCPConn, number, _ int64) bool {
		length := 5
		if number > 50 {
			length = 300_000
		}
		fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", length)
		_, _ = conn.Write(make([]byte, length))
		return true
	}), nil)
	expect(t, "answers", report.RetCodes[200], 100)
	expect(t, "smallest", report.Seen.Bytes.Min, 5)
	expect(t, "largest", report.Seen.Bytes.Max, 300_000)
}

func TestWithoutKeepAliveEachRequestHasItsConnection(t *testing.T) {
	report := loaded(t, serve(t, always(hello, true)), func(task *Task) { task.KeepAlive = false })
	expect(t, "connections", report.Seen.Connections, 100)
	expect(t, "answers", report.RetCodes[200], 100)
}

func TestAMissingListenerIsReported(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	report := loaded(t, address, func(task *Task) { task.Requests = 4 })
	expect(t, "failures", failures(report), "map[notConnected:4]")
}

func TestNothingIsSentBetweenReadyAndTheStart(t *testing.T) {
	var sent atomic.Int64
	address := serve(t, func(conn *net.TCPConn, number, _ int64) bool {
		sent.Store(number)
		_, _ = io.WriteString(conn, hello)
		return true
	})
	task, err := json.Marshal(Task{
		Address: address, Request: []byte("GET / HTTP/1.1\r\n\r\n"), Status: 200, Connections: 1,
		KeepAlive: true, Requests: 10, TimeoutNanoseconds: 1e9, ResolutionSeconds: 1e-6,
	})
	if err != nil {
		t.Fatal(err)
	}
	in, lines := io.Pipe()
	edges, output := io.Pipe()
	var out bytes.Buffer
	ended := make(chan error)
	go func() { ended <- run(in, &out, output) }()
	go func() { _, _ = lines.Write(append(task, '\n')) }()
	scanner := bufio.NewScanner(edges)
	scanner.Scan()
	expect(t, "first", scanner.Text(), "ready")
	expect(t, "requests to be warm", sent.Load(), 1)
	go func() { _, _ = lines.Write([]byte("\n")) }()
	scanner.Scan()
	expect(t, "second", scanner.Text(), "done")
	expect(t, "requests at the end", sent.Load(), 11)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), `"RetCodes":{"200":10}`) {
		t.Error(out.String())
	}
}

func TestAnImpossibleTaskIsRefused(t *testing.T) {
	for _, text := range []string{"", "{}\n", "no JSON\n", `{"connections":3,"requests":2}` + "\n"} {
		if err := run(strings.NewReader(text), io.Discard, io.Discard); err == nil {
			t.Errorf("%q was done", text)
		}
	}
}

func TestGetExpectsStatus200(t *testing.T) {
	if err := get("http://" + serve(t, always(hello, true))); err != nil {
		t.Error(err)
	}
	busy := "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"
	if err := get("http://" + serve(t, always(busy, true))); err == nil || !strings.Contains(err.Error(), "503") {
		t.Error(err)
	}
}

// post is a request with a body of this many bytes.
func post(bytes int) []byte {
	head := fmt.Sprintf("POST / HTTP/1.1\r\nHost: test\r\nContent-Length: %d\r\n\r\n", bytes)
	return append([]byte(head), make([]byte, bytes)...)
}

// echo answers each request with its body, and sends what it has read before it reads on.
func echo(t *testing.T) string {
	t.Helper()
	return listen(t, func(conn net.Conn) {
		reader := bufio.NewReader(conn)
		for {
			request, err := http.ReadRequest(reader)
			if err != nil {
				return
			}
			fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", request.ContentLength)
			if _, err := io.Copy(conn, request.Body); err != nil {
				return
			}
		}
	})
}

func TestABodyLargerThanAllBuffersIsSentWhileItsAnswerIsRead(t *testing.T) {
	const bytes = 16 * 1024 * 1024
	report := loaded(t, echo(t), func(task *Task) { task.Request, task.Requests = post(bytes), 6 })
	expect(t, "answers", report.RetCodes[200], 6)
	expect(t, "connections", report.Seen.Connections, 0)
	expect(t, "sizes", report.Seen.Bytes, Sizes{6, 6 * bytes, bytes, bytes})
}

func TestAServiceThatAnswersAndTakesNoMoreOfABodyIsHeard(t *testing.T) {
	address := listen(t, func(conn net.Conn) {
		if _, err := http.ReadRequest(bufio.NewReader(conn)); err != nil {
			return
		}
		_, _ = io.WriteString(conn, "HTTP/1.1 413 X\r\nContent-Length: 0\r\n\r\n")
		// It is read before the connection is reset.
		time.Sleep(100 * time.Millisecond)
	})
	report := loaded(t, address, func(task *Task) {
		task.Request, task.Requests, task.Status = post(16*1024*1024), 6, 413
	})
	expect(t, "answers", report.RetCodes[413], 6)
	expect(t, "failures", failures(report), "map[]")
	expect(t, "sent again", report.Seen.Resent, 0)
}

func TestAnAnswerToHeadHasNoBody(t *testing.T) {
	text := "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"
	report := loaded(t, serve(t, always(text, true)), func(task *Task) {
		task.Request = []byte("HEAD / HTTP/1.1\r\nHost: test\r\n\r\n")
	})
	expect(t, "answers", report.RetCodes[200], 100)
	expect(t, "failures", failures(report), "map[]")
	expect(t, "sizes", report.Seen.Bytes, Sizes{100, 0, 0, 0})
}

func TestAMixSharesConnectionsByWeightAndCountsEachRequest(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, in *http.Request) {
		switch in.URL.Path {
		case "/order":
			out.WriteHeader(http.StatusCreated)
		case "/broken":
			out.WriteHeader(http.StatusOK)
		}
	}))
	t.Cleanup(server.Close)
	part := func(name string, status int, weight int64) Part {
		request := fmt.Sprintf("GET /%s HTTP/1.1\r\nHost: test\r\n\r\n", name)
		return Part{Name: name, Request: []byte(request), Status: status, Weight: weight}
	}
	report := loaded(t, strings.TrimPrefix(server.URL, "http://"), func(task *Task) {
		task.Connections, task.Requests = 10, 100
		task.Parts = []Part{part("home", 200, 7), part("order", 201, 2), part("broken", 204, 1)}
	})
	expect(t, "parts", len(report.Parts), 3)
	for i, want := range []PartReport{
		{Name: "home", Connections: 7, Expected: 70},
		{Name: "order", Connections: 2, Expected: 20},
		{Name: "broken", Connections: 1, Failed: 10},
	} {
		got := report.Parts[i]
		expect(t, want.Name+", times", got.DurationHistogram.Count, want.Expected+want.Failed)
		got.DurationHistogram = nil
		expect(t, want.Name, got, want)
	}
	// All successes count together, and an answer that is none does not look like one.
	expect(t, "successes", report.RetCodes[200], 90)
	expect(t, "another status", report.RetCodes[otherStatus], 10)
	expect(t, "in the errors", report.ErrorsDurationHistogram.Count, 10)
}

func TestRequestsOfAMixTakeTurns(t *testing.T) {
	task := Task{Connections: 10, Parts: []Part{{Name: "a", Weight: 7}, {Name: "b", Weight: 2}, {Name: "c", Weight: 1}}}
	parts, err := task.parts()
	if err != nil {
		t.Fatal(err)
	}
	names := ""
	for _, part := range parts {
		names += part.Name
	}
	expect(t, "turns", names, "aabaacabaa")
}

func TestEachRequestOfAMixHasAConnection(t *testing.T) {
	task := Task{Connections: 3, Parts: []Part{{Weight: 100}, {Weight: 1}, {Weight: 1}}}
	expect(t, "shares", fmt.Sprint(task.shares()), "[1 1 1]")
	task.Connections = 10
	expect(t, "shares", fmt.Sprint(task.shares()), "[8 1 1]")
	task.Connections = 2
	if _, err := task.parts(); err == nil {
		t.Error("two connections carry three requests")
	}
}

// secured serves over TLS, and returns where, and how many handshakes asked for each name.
func secured(t *testing.T) (address string, names *sync.Map) {
	names = &sync.Map{}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "hello")
	}))
	server.TLS = &tls.Config{GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		count, _ := names.LoadOrStore(hello.ServerName, new(atomic.Int64))
		count.(*atomic.Int64).Add(1)
		return nil, nil
	}}
	server.StartTLS()
	t.Cleanup(server.Close)
	return server.Listener.Addr().String(), names
}

func handshakes(names *sync.Map, name string) int64 {
	count, ok := names.Load(name)
	if !ok {
		return 0
	}
	return count.(*atomic.Int64).Load()
}

func TestAServiceWithTLSIsLoadedWhateverItsCertificate(t *testing.T) {
	address, names := secured(t)
	name := "shop.example.com"
	over := func(task *Task) { task.ServerName = &name }
	report := loaded(t, address, over)
	expect(t, "answers", report.RetCodes[200], 100)
	expect(t, "failures", failures(report), "map[]")
	expect(t, "sizes", report.Seen.Bytes, Sizes{100, 500, 5, 5})
	expect(t, "connections in the timed part", report.Seen.Connections, 0)
	expect(t, "handshakes", handshakes(names, name), 2)
}

func TestEachConnectionOfItsOwnMakesAHandshake(t *testing.T) {
	address, names := secured(t)
	name := "127.0.0.1"
	report := loaded(t, address, func(task *Task) {
		task.ServerName = &name
		task.KeepAlive = false
		task.Request = []byte("GET / HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n")
	})
	expect(t, "answers", report.RetCodes[200], 100)
	expect(t, "failures", failures(report), "map[]")
	expect(t, "connections", report.Seen.Connections, 100)
	expect(t, "handshakes, which ask for no address", handshakes(names, ""), 102)
}

func TestALargeBodyIsSentOverTLSWhileItsAnswerIsRead(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		_ = http.NewResponseController(w).EnableFullDuplex()
		_, _ = io.Copy(w, request.Body)
	}))
	t.Cleanup(server.Close)
	name, body := "test", strings.Repeat("x", 1<<20)
	report := loaded(t, server.Listener.Addr().String(), func(task *Task) {
		task.ServerName, task.Requests = &name, 10
		head := fmt.Sprintf("POST / HTTP/1.1\r\nHost: test\r\nContent-Length: %d\r\n\r\n", len(body))
		task.Request = []byte(head + body)
	})
	expect(t, "answers", report.RetCodes[200], 10)
	expect(t, "bytes", report.Seen.Bytes.Min, int64(len(body)))
}

func TestAPortWithoutTLSIsNotConnectedTo(t *testing.T) {
	name := "test"
	report := loaded(t, serve(t, always(hello, true)), func(task *Task) { task.ServerName, task.Requests = &name, 4 })
	expect(t, "failures", failures(report), "map[notConnected:4]")
}
