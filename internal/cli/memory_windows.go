package cli

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// memoryStatus is the MEMORYSTATUSEX structure of Windows.
type memoryStatus struct {
	length, load                                                                     uint32
	total, free, totalPage, freePage, totalVirtual, freeVirtual, freeExtendedVirtual uint64
}

// machineMemory returns the physical memory in bytes, or 0 if it is unknown.
func machineMemory() uint64 {
	status := memoryStatus{length: uint32(unsafe.Sizeof(memoryStatus{}))}
	call := windows.NewLazySystemDLL("kernel32.dll").NewProc("GlobalMemoryStatusEx")
	if call.Find() != nil {
		return 0
	}
	if ok, _, _ := call.Call(uintptr(unsafe.Pointer(&status))); ok == 0 {
		return 0
	}
	return status.total
}
