# A file server: each thread creates and writes a file, appends to another, reads a third, deletes one and stats one.
# The numbers are those of filebench's own workload of this name.

set $dir=/data
set $nfiles=10000
set $meandirwidth=20
set $filesize=cvar(type=cvar-gamma,parameters=mean:131072;gamma:1.5)
set $nthreads=50
set $iosize=1m
set $meanappendsize=16k

define fileset name=files,path=$dir,size=$filesize,entries=$nfiles,dirwidth=$meandirwidth,prealloc=80

define process name=server,instances=1
{
  thread name=worker,instances=$nthreads
  {
    flowop createfile name=create,filesetname=files,fd=1
    flowop writewholefile name=write,srcfd=1,fd=1,iosize=$iosize
    flowop closefile name=close-written,fd=1
    flowop openfile name=open-to-append,filesetname=files,fd=1
    flowop appendfilerand name=append,iosize=$meanappendsize,fd=1
    flowop closefile name=close-appended,fd=1
    flowop openfile name=open-to-read,filesetname=files,fd=1
    flowop readwholefile name=read,fd=1,iosize=$iosize
    flowop closefile name=close-read,fd=1
    flowop deletefile name=delete,filesetname=files
    flowop statfile name=stat,filesetname=files
  }
}

run 60
