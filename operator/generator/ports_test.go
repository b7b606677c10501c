package main

import (
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// hundredPorts runs the test that calls it once more, in a network of its own with a hundred local
// ports, and returns true there.
func hundredPorts(t *testing.T) bool {
	t.Helper()
	const isInside = "TEST_WITH_A_HUNDRED_PORTS"
	if os.Getenv(isInside) != "" {
		if err := errors.Join(loopbackUp(), setting("ip_local_port_range", "40000 40099"),
			setting("tcp_tw_reuse", "0")); err != nil {
			t.Fatal(err)
		}
		return true
	}
	again := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	again.Env = append(os.Environ(), isInside+"=1")
	again.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
	}
	output, err := again.CombinedOutput()
	switch {
	case errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES):
		t.Skip("this machine lets nobody make a network: ", err)
	case err != nil:
		t.Errorf("%v\n%s", err, output)
	}
	return false
}

func loopbackUp() error {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	defer unix.Close(socket)
	loopback, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	loopback.SetUint16(unix.IFF_UP)
	return unix.IoctlIfreq(socket, unix.SIOCSIFFLAGS, loopback)
}

func setting(name, value string) error {
	return os.WriteFile("/proc/sys/net/ipv4/"+name, []byte(value), 0)
}

func TestConnectionsThatTheServiceEndsUseUpNoPorts(t *testing.T) {
	if !hundredPorts(t) {
		return
	}
	ending := strings.Replace(hello, "\r\n", "\r\nConnection: close\r\n", 1)
	for _, keepAlive := range []bool{true, false} {
		for _, pause := range []time.Duration{0, time.Millisecond, 2 * patience} {
			report := loaded(t, serve(t, func(conn *net.TCPConn, _, _ int64) bool {
				_, _ = io.WriteString(conn, ending)
				time.Sleep(pause)
				return false
			}), func(task *Task) {
				task.KeepAlive = keepAlive
				if pause > patience {
					// As many as there may be at once.
					task.Requests, task.Connections = 80, 1
				} else {
					task.Requests = 400
				}
			})
			expect(t, "failures", failures(report), "map[]")
		}
	}
}

func TestWithoutAFreePortTheServiceIsNotBlamed(t *testing.T) {
	if !hundredPorts(t) {
		return
	}
	report := loaded(t, serve(t, always(hello, true)), func(task *Task) {
		task.Connections, task.Requests = 120, 1200
	})
	found := report.Seen.Failures
	if found[NoPort] == 0 || found != (Failures{NoPort: found[NoPort]}) {
		t.Errorf("failures: %s", failures(report))
	}
}
